"""
Groups
======

How many photos did each camera take? A bar is parted where its groups end; hatched are photos
alone that see the camera zoomed. Beside it stands what the files say.
"""

import samecam

case = samecam.open_case("../../build/gallery/case")
for camera in case.cameras:
    print(camera.id, camera.size, camera.exif_names)
figure = samecam.plots.groups(case)
