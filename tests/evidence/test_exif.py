import pytest

from samecam.evidence import exif_warnings


def record(**columns):
    return {"make": "Nikon", "model": "D70", "width": "3008", "height": "2000", **columns}


def only(records, word):
    found = [s for s in exif_warnings(records) if word in s]
    assert len(found) == 1, exif_warnings(records)
    return found[0]


def test_models_that_disagree():
    records = [record(), record(), record(model="D200")]
    sentence = only(records, "camera models")
    assert "2 camera models, Nikon D70 (2), Nikon D200 (1)" in sentence


def test_a_make_repeated_in_the_model_is_written_once():
    records = [record(make="Canon", model="Canon EOS 6D"), record()]
    assert "Canon EOS 6D (1), Nikon D70 (1)" in only(records, "camera models")


def test_serial_numbers_that_disagree():
    assert "2 serial numbers" in only([record(serial="1"), record(serial="2")], "serial")
    assert not [s for s in exif_warnings([record(serial="1"), record()]) if "serial" in s]


def test_one_model_and_software_may_share_an_artefact():
    same = [record(software="Ver.1.00"), record(software="Ver.1.00")]
    assert "Nikon D70 with software Ver.1.00" in only(same, "cannot be excluded")
    mixed = [record(software="Ver.1.00"), record(software="Ver.2.00")]
    assert not [s for s in exif_warnings(mixed) if "cannot be excluded" in s]
    assert exif_warnings([{}, {}]) == []
    assert exif_warnings([]) == []


def test_sizes_and_aspect_ratios():
    resized = [record(), record(width="1504", height="1000")]
    assert "resized" in only(resized, "2 sizes")
    cropped = [record(), record(width="2000", height="2000")]
    assert "aspect ratios differ" in only(cropped, "2 sizes")
    turned = [record(), record(width="2000", height="3008")]
    assert not [s for s in exif_warnings(turned) if "sizes" in s]
    assert "1 of 2 pictures are stored upright" in only(turned, "upright")


@pytest.mark.parametrize(
    "software", ["Adobe Photoshop CS6 (Windows)", "GIMP 2.10", "Snapseed 2.0", "WhatsApp"]
)
def test_editing_software(software):
    assert f"1 of 3 files name editing or sharing software, {software} (1)" in only(
        [record(), record(), record(software=software)], "editing"
    )


def test_a_cameras_own_software_is_no_editor():
    own = ["Ver.1.00", "12.1.4", "MediaTek Camera Application", "v01.30.0128", "HDR+ 1.0.2"]
    records = [record(software=s) for s in own]
    assert not [s for s in exif_warnings(records) if "editing" in s]


def test_sizes_that_networks_produce():
    shared = [{"width": "1600", "height": "1200"}, {"width": "4000", "height": "3000"}]
    assert "1 of 2 files name no camera" in only(shared, "social networks")
    assert not [s for s in exif_warnings([record(width="1600")]) if "networks" in s]


def test_many_values_are_not_all_named():
    assert "and 3 more" in only([record(model=f"D{i}") for i in range(7)], "camera models")


def test_odd_numbers_are_no_error():
    assert exif_warnings([record(width="", height="x"), record(width="0")])


def test_modes_that_process_are_warned_of_and_scene_programmes_are_not():
    files = [{"mode": mode} for mode in ("portrait", "", "HDR", "portrait", "night scene")]
    (said,) = exif_warnings(files)
    assert said.startswith(
        "3 of 5 files say that the camera processed them more than usual, portrait (2), HDR (1):"
    )
    assert exif_warnings(files[1:2] + files[4:]) == []
