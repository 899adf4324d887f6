"""Loaders on small trees of the shapes that the collections have on disk."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from samecam import datasets
from samecam.errors import SamecamError
from samecam.metrics import read_truth
from samecam.simulate import simulate_photos


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    """Photos of three simulated cameras, three each: [(bytes, camera)]."""
    root = tmp_path_factory.mktemp("shots")
    simulate_photos(root, cameras=3, images=3, models=2, size=(64, 64), workers=1)
    truth = read_truth(root / "truth.csv")
    return [((root / path).read_bytes(), camera) for path, camera in truth.items()]


def put(root, names):
    """Empty files of these names: the loaders look at names alone."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def spread(root, shots, name_of):
    """The simulated photos under names by camera number and photo number; name to camera."""
    cameras = sorted({camera for _, camera in shots})
    seen, truth = Counter(), {}
    for data, camera in shots:
        name = name_of(cameras.index(camera), seen[camera])
        seen[camera] += 1
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
        truth[name] = camera
    return truth


def same_partition(collection, truth):
    """Whether the loader tells the cameras apart as the truth does."""
    pairs = {(photo.camera, truth[photo.path]) for photo in collection.photos}
    assert len(collection.photos) == len(truth)
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


DRESDEN = ("Canon_Ixus70_0", "Canon_Ixus70_1", "Agfa_DC-504_0")
VISION = ("D01_Samsung_GalaxyS3Mini", "D26_Samsung_GalaxyS3Mini", "D02_Apple_iPhone4s")


def test_dresden(tmp_path, shots):
    truth = spread(tmp_path, shots, lambda c, k: f"natural/{DRESDEN[c]}_{1000 + k}.JPG")
    put(tmp_path, ["flatfield/Canon_Ixus70_0_9.JPG", "dark/Canon_Ixus70_0_8.JPG", "IMG_1.JPG"])
    result = datasets.load_dresden(tmp_path)
    assert same_partition(result, truth)
    assert result.models == {c: c.rsplit("_", 1)[0] for c in sorted(DRESDEN)}
    assert result.photos == tuple(sorted(result.photos))
    assert all(path.is_file() for path in result.paths)
    assert result.notes == ("3 pictures are no part of Dresden: left out.",)
    assert result.kind == "real"


def test_vision(tmp_path, shots):
    def name_of(c, k):
        return f"{VISION[c]}/images/nat/{VISION[c][:3]}_I_nat_{k:04d}.jpg"

    truth = spread(tmp_path, shots, name_of)
    put(tmp_path, [f"{VISION[0]}/images/flat/D01_I_flat_0001.jpg", f"{VISION[0]}/videos/x.mp4"])
    (tmp_path / "D05_Apple_iPhone5c").mkdir()
    result = datasets.load_vision(tmp_path)
    assert same_partition(result, truth)
    assert result.models[VISION[0]] == result.models[VISION[1]] == "Samsung_GalaxyS3Mini"
    assert result.notes == ("D05_Apple_iPhone5c has no photo in images/nat: left out.",)
    assert len(datasets.load_vision(tmp_path, "flat").photos) == 1
    with pytest.raises(SamecamError, match="none is in Dxx_Brand_Model/images/natWA"):
        datasets.load_vision(tmp_path, "natWA")


@pytest.mark.parametrize("above", ["dataset", "VISION/dataset"])
def test_vision_one_folder_up(tmp_path, shots, above):
    def name_of(c, k):
        return f"{above}/{VISION[c]}/images/nat/{VISION[c][:3]}_I_nat_{k:04d}.jpg"

    truth = spread(tmp_path, shots, name_of)
    put(tmp_path, [f"{above}/{VISION[0]}/images/flat/D01_I_flat_0001.jpg"])
    (tmp_path / above / "D05_Apple_iPhone5c").mkdir()
    result = datasets.load_vision(tmp_path)
    assert same_partition(result, truth)
    assert set(result.cameras) == set(VISION)
    assert all(path.is_file() for path in result.paths)
    assert result.notes == ("D05_Apple_iPhone5c has no photo in images/nat: left out.",)


def test_vision_names_folders_that_are_no_devices(tmp_path):
    put(tmp_path, [f"dataset/{name}/images/nat/{k}.jpg" for name in VISION for k in range(2)])
    put(tmp_path, [f"dataset/MyPhone/images/nat/{k}.jpg" for k in range(3)])
    put(tmp_path, ["other/a/b.jpg", "loose.jpg", "dataset/loose.jpg", "D09_A_B.jpg", "x/notes.txt"])
    result = datasets.load_vision(tmp_path)
    assert len(result.photos) == 6
    assert result.notes == (
        "7 pictures are in no folder Dxx_Brand_Model: left out (3 in dataset/MyPhone, "
        "3 in no folder, 1 in other).",
    )
    put(tmp_path, [f"more{k}/a.jpg" for k in range(9)])
    assert (
        datasets.load_vision(tmp_path)
        .notes[0]
        .endswith("3 in no folder, 1 in more0, 1 in more1, 1 in more2 and 7 more folders).")
    )


FLOREVIEW = ("D34_Google_Pixel5", "D35_Google_Pixel5", "D14_Apple_iPhone13mini")
FODB = ("D15_Samsung_GalaxyA6_1", "D16_Samsung_GalaxyA6_2", "D01_Motorola_E3_1")


@pytest.mark.parametrize("above", ["", "Dataset/"])
def test_floreview(tmp_path, shots, above):
    def name_of(c, k):
        device = FLOREVIEW[c]
        return f"{above}{device}/Nat/jpeg-h264/L{k}/S1/{device[:3]}_L{k}S1C1.jpg"

    truth = spread(tmp_path, shots, name_of)
    at = f"{above}{FLOREVIEW[0]}"
    put(tmp_path, [f"{at}/Flat/x.jpg", f"{at}/Nat/jpeg-h264/L1/S1/D34_L1S1C4.mp4", "readme.png"])
    (tmp_path / above / "D02_Apple_iPhone12").mkdir()
    result = datasets.load_floreview(tmp_path)
    assert result.name == "FloreView"
    assert same_partition(result, truth)
    assert result.models == {name: name[4:] for name in sorted(FLOREVIEW)}
    assert {photo.device for photo in result.photos} == {"D34", "D35", "D14"}
    assert result.notes == (
        "D02_Apple_iPhone12 has no photo in Nat: left out.",
        "1 pictures are in no folder Dxx_Brand_Model: left out (1 in no folder).",
    )
    assert len(datasets.load_floreview(tmp_path, "flat").photos) == 1


def test_fodb(tmp_path, shots):
    truth = spread(tmp_path, shots, lambda c, k: f"{FODB[c]}/orig/{FODB[c][:3]}_img_orig_{k:04d}.jpg")  # noqa: E501  # fmt: skip
    put(tmp_path, [f"{name}/whatsapp/{name[:3]}_img_whatsapp_0001.jpg" for name in FODB])
    (tmp_path / "D02_LG_G3_1").mkdir()
    result = datasets.load_fodb(tmp_path)
    assert result.name == "FODB"
    assert same_partition(result, truth)
    assert result.models == {
        "D01_Motorola_E3_1": "Motorola_E3",
        "D15_Samsung_GalaxyA6_1": "Samsung_GalaxyA6",
        "D16_Samsung_GalaxyA6_2": "Samsung_GalaxyA6",
    }
    assert result.notes == ("D02_LG_G3_1 has no photo in orig: left out.",)
    copies = datasets.load_fodb(tmp_path, "whatsapp")
    assert copies.sizes() == dict.fromkeys(sorted(FODB), 1)
    with pytest.raises(SamecamError, match="'whatsap' is no part of FODB: choose from orig"):
        datasets.load_fodb(tmp_path, "whatsap")


def test_modern_devices(tmp_path, shots):
    names = ("C20", "C21", "C99")
    truth = spread(tmp_path, shots, lambda c, k: f"PrnuModernDevices/{names[c]}/nat/01 ({k}).jpg")
    put(tmp_path, [f"PrnuModernDevices/C20/{kind}/a.jpg" for kind in ("bokeh", "flat")])
    put(tmp_path, ["PrnuModernDevices/C19/bokeh/a.heic", "PrnuModernDevices/C100/nat/a.jpg"])
    result = datasets.load_modern_devices(tmp_path)
    assert result.name == "PrnuModernDevices"
    assert same_partition(result, truth)
    assert result.models == {"C20": "Apple_iPhone11", "C21": "Apple_iPhone11", "C99": "C99"}
    assert result.notes == (
        "C19 has no photo in nat: left out.",
        "1 pictures are in no folder Cnn: left out (1 in PrnuModernDevices/C100).",
    )
    assert set(datasets.load_modern_devices(tmp_path, "bokeh").cameras) == {"C19", "C20"}


def test_prnu_bench(tmp_path, shots):
    truth = spread(tmp_path, shots, lambda c, k: f"PRNU/camera_{c}/view_{k % 2 + 1}/{k}.png")
    put(tmp_path, ["PRNU/camera_1/a.png", "view_1/camera_1/a.png", "camera_x/view_1/a.png"])
    result = datasets.load_prnu_bench(tmp_path)
    assert result.name == "PRNU-Bench"
    assert same_partition(result, truth)
    assert len(set(result.models.values())) == 3, "every camera is its own model"
    assert result.notes == ("3 pictures are no part of PRNU-Bench: left out.",)


@pytest.mark.parametrize("name", ["vision", "floreview", "fodb", "prnu-modern-devices", "prnu-bench"])  # noqa: E501  # fmt: skip
def test_another_tree_is_an_error_that_says_what_is_read(tmp_path, name):
    put(tmp_path, ["Pixel_0/a.jpg", "b.jpg"])
    shape = {
        "vision": "Dxx_Brand_Model/images/nat",
        "floreview": "Dxx_Brand_Model/Nat",
        "fodb": "Dxx_Brand_Model_N/orig",
        "prnu-modern-devices": "Cnn/nat",
        "prnu-bench": "camera_N/view_N",
    }[name]
    with pytest.raises(SamecamError, match=rf"of 2 pictures none is in {shape}"):
        datasets.load(name, tmp_path)


@pytest.mark.parametrize(
    ("tree", "name", "cameras"),
    [
        (["x/1.jpg", "x/2.jpg", "truth.csv"], "truth", {"one", "two"}),
        ([f"{name}/images/nat/1.jpg" for name in VISION], "VISION", set(VISION)),
        ([f"{name}/Nat/jpeg-h264/L1/S1/1.jpg" for name in FLOREVIEW], "FloreView", set(FLOREVIEW)),
        ([f"{name}/orig/1.jpg" for name in FODB], "FODB", set(FODB)),
        (["C01/nat/1.jpg", "C02/nat/1.jpg", "C02/flat/1.jpg"], "PrnuModernDevices", {"C01", "C02"}),
        (["camera_1/view_1/a.png", "camera_1/view_2/a.png"], "PRNU-Bench", {"camera_1"}),
        (["Ixus_0_12.JPG", "Ixus_1_13.JPG"], "Dresden", {"Ixus_0", "Ixus_1"}),
        (["Pixel/1.jpg", "Canon/1.jpg"], "folders", {"Pixel", "Canon"}),
        (["camera_1/1.jpg", "camera_2/1.jpg"], "folders", {"camera_1", "camera_2"}),
    ],
)  # fmt: skip
def test_a_collection_is_known_by_its_folder(tmp_path, tree, name, cameras):
    put(tmp_path, tree)
    if "truth.csv" in tree:
        (tmp_path / "truth.csv").write_text("path,camera\nx/1.jpg,one\nx/2.jpg,two\n")
    collection = datasets.open_collection(tmp_path)
    assert collection.name == name
    assert set(collection.cameras) == cameras


def test_the_collection_that_is_expected_is_tried_first(tmp_path):
    put(tmp_path, ["natural/Ixus_0_12.JPG", "natural/Ixus_1_13.JPG", "truth.csv"])
    (tmp_path / "truth.csv").write_text("path,camera\nnatural/Ixus_0_12.JPG,one\n")
    assert datasets.open_collection(tmp_path).name == "truth"
    assert datasets.open_collection(tmp_path, "dresden").name == "Dresden"
    assert datasets.open_collection(tmp_path, "vision").name == "truth"


def test_a_folder_that_tells_no_cameras(tmp_path):
    put(tmp_path, ["holiday.jpg"])
    with pytest.raises(SamecamError, match=r"put a truth\.csv"):
        datasets.open_collection(tmp_path)
    with pytest.raises(SamecamError, match="is no folder"):
        datasets.open_collection(tmp_path / "nowhere")


def test_raise(tmp_path, shots):
    devices = ("Nikon D90", "Nikon D7000", "Nikon D40")
    truth = spread(tmp_path, shots, lambda c, k: f"a/r{c}{k}t.TIF")
    rows = [(Path(p).stem, "x", devices[int(p[3])]) for p in truth]
    with open(tmp_path / "RAISE_all.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([("File", "NEF", "Device"), *rows, ("gone", "", "Nikon D90")])
    result = datasets.load_raise(tmp_path)
    assert same_partition(result, truth)
    assert sorted(result.sizes()) == sorted(devices)
    assert result.notes == ("1 of 10 files of RAISE_all.csv are not there.",)
    (tmp_path / "RAISE_all.csv").unlink()
    with pytest.raises(SamecamError, match="holds 0 tables named RAISE"):
        datasets.load_raise(tmp_path)


def test_folders(tmp_path, shots):
    names = ("Pixel_0", "Pixel_1", "Canon 600D")
    truth = spread(tmp_path, shots, lambda c, k: f"{names[c]}/sub/{k}.jpg")
    put(tmp_path, ["loose.jpg", "Pixel_0/notes.txt"])
    result = datasets.load_folders(tmp_path)
    assert same_partition(result, truth)
    assert result.models == {"Canon 600D": "Canon 600D", "Pixel_0": "Pixel", "Pixel_1": "Pixel"}
    assert result.notes == ("1 pictures are no part of folders: left out.",)


def test_truth(tmp_path, shots):
    truth = spread(tmp_path, shots, lambda c, k: f"images/{c}, {k}.jpg")
    rows = [*truth.items(), ("images/gone.jpg", "x")]
    with open(tmp_path / "truth.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([("path", "camera"), *rows])
    result = datasets.load("truth", tmp_path / "truth.csv")
    assert {photo.path: photo.camera for photo in result.photos} == truth
    assert result.notes == ("1 of 10 photos are not there: left out.",)
    # Its own truth reads back as itself, commas and all.
    (tmp_path / "again.csv").write_text(result.truth_csv())
    assert read_truth(tmp_path / "again.csv") == truth


def test_truth_with_models(tmp_path):
    put(tmp_path, ["a.jpg", "b.jpg"])
    (tmp_path / "t.csv").write_text("path,camera,model\na.jpg,c0,M\nb.jpg,c1,M\n")
    assert datasets.load_truth(tmp_path / "t.csv").models == {"c0": "M", "c1": "M"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dresden", "holds no photo of Dresden .of 1 pictures none is named like Model_Camera"),
        ("vision", "none is in Dxx_Brand_Model/images/nat"),
        ("folders", "none is in a folder of its camera"),
        ("raise", "holds 0 tables"),
    ],
)
def test_missing_data_is_an_error(tmp_path, name, words):
    put(tmp_path, ["holiday.jpg", "b.txt"])
    with pytest.raises(SamecamError, match=words):
        datasets.load(name, tmp_path)
    with pytest.raises(SamecamError, match="is no folder: name the root"):
        datasets.load(name, tmp_path / "nowhere")


def test_truth_of_nothing(tmp_path):
    (tmp_path / "truth.csv").write_text("path,camera\na.jpg,c\n")
    with pytest.raises(SamecamError, match="None of the 1 photos"):
        datasets.load_truth(tmp_path / "truth.csv")
    with pytest.raises(SamecamError, match="'olden' is no collection: choose from dresden"):
        datasets.load("olden", tmp_path)


@pytest.fixture(scope="module")
def dresden(tmp_path_factory):
    """Five models of six cameras and one of four, camera k of each with 100 + k photos."""
    root = tmp_path_factory.mktemp("dresden")
    cameras = [(m, c) for m in range(6) for c in range(6 if m else 4)]
    names = [f"M{m}_{c}_{k}.JPG" for m, c in cameras for k in range(100 + c)]
    return datasets.load_dresden(put(root, names))


def test_draws_are_fixed_by_the_seed_and_nested(dresden):
    small, again, large = dresden.draw(5, 3), dresden.draw(5, 3), dresden.draw(10, 3)
    assert small == again
    assert dresden.draw(5, 3, seed=1) != small
    assert set(small.photos) < set(large.photos)
    assert large.photos == tuple(sorted(large.photos))
    assert small.sizes() == dict.fromkeys(small.sizes(), 3)
    assert len(small.sizes()) == 5


@pytest.mark.parametrize("name", ["Ds5", "Dsm5", "Dsm20", "Da5"])
@pytest.mark.parametrize("seed", range(4))
def test_configurations_are_drawn(dresden, name, seed):
    wanted = datasets.configuration(name)
    drawn = dresden.configured(wanted, seed=seed)
    per_model = Counter(drawn.models.values())
    assert len(drawn.sizes()) == wanted.cameras
    assert set(per_model.values()) == {wanted.per_model}
    assert drawn.name == name
    assert wanted.per_model == 1 or "M0" not in per_model  # which has not enough
    if wanted.each:
        assert set(drawn.sizes().values()) == {100}
        assert drawn.notes == ()
    else:
        assert drawn.sizes() == {c: dresden.sizes()[c] for c in drawn.sizes()}
        assert drawn.notes == (f"{name} has 1089 photos in print, {len(drawn.photos)} here.",)


def test_what_is_not_there_cannot_be_drawn(dresden):
    with pytest.raises(SamecamError, match="10 cameras, 1 of each model are wanted but Dresden"):
        dresden.draw(10, per_model=1)
    with pytest.raises(SamecamError, match="2 cameras with 200 photos or more .* has 0"):
        dresden.draw(2, 200)
    with pytest.raises(SamecamError, match="200 photos of 'Nikon D90' are wanted .* has 0"):
        dresden.configured(datasets.configuration("dev"))


def test_a_draw_does_not_depend_on_other_cameras(dresden):
    one = dresden.take({"M0_0": 5}, seed=2)
    both = dresden.take({"M0_0": 5, "M1_0": 7}, seed=2)
    assert set(one.photos) < set(both.photos)
    assert len(both.photos) == 12
    assert np.all([p.is_file() for p in both.paths])
