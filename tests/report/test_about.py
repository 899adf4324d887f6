"""about.toml: a person's words on the page, a stranger's bytes for the reader."""

import contextlib
import json
import re

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from samecam.case import open_case, report_is_current
from samecam.cli import cli
from samecam.errors import SamecamError
from samecam.report import write_about_template, write_report
from samecam.report._about import TEMPLATE, About, read_about
from samecam.report._paper import css_text, on_paper

FULL = """
examiner = "A. <b>Examiner</b>"
organisation = "Laboratory"
case_number = "2026-17"
exhibits = { "A-1" = "alice", "A-2" = "disk" }
question = '''First line
second line

</script><script>alert(9)</script>'''
remarks = "From a phone."
conclusion = "In my view \u202ethey are one."
signed = { name = "A. Examiner", date = 2026-01-31 }
"""


def test_everything_is_read(tmp_path):
    (tmp_path / "about.toml").write_text(FULL, encoding="utf-8")
    about = read_about(tmp_path)
    assert about.exhibits == (("A-1", "alice"), ("A-2", "disk"))
    assert about.mark == "Signed by A. Examiner, 2026-01-31"
    assert read_about(tmp_path, {"examiner": "B"}).examiner == "B"
    assert read_about(tmp_path, {"exhibits": ["7"]}).exhibits == (("7", ""),)
    assert read_about(tmp_path / "none") == About()
    assert About().mark == "Draft, not signed"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('examinor = "A"', "'examinor' is no entry of it; there are examiner,"),
        ("examiner = 3", "examiner is not text"),
        (f'examiner = "{"a" * 201}"', "examiner has 201 characters: give 200"),
        ('exhibits = "A-1"', "exhibits is neither"),
        ("exhibits = [1]", "exhibits is not text"),
        ('signed = "A"', "signed must be like"),
        ('signed = { name = "A" }', "signed must be like"),
        ('signed = { name = "A", date = "soon" }', "signed has a date that is none"),
        ('signed = { name = " ", date = 2026-01-31 }', "signed has no name"),
        ("examiner = ", "cannot be read as TOML"),
        ("x = " + "[" * 5000, "cannot be read as TOML"),
        ("#" * 2**19, "is 524288 bytes long"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, said):
    (tmp_path / "about.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SamecamError, match=re.escape(said)) as caught:
        read_about(tmp_path)
    assert "about.toml" in str(caught.value)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    (folder / "about.toml").write_bytes(data)
    with contextlib.suppress(SamecamError):
        assert isinstance(read_about(folder), About)


def test_no_link_is_followed(tmp_path):
    (tmp_path / "secret").write_text('examiner = "S"')
    (tmp_path / "about.toml").symlink_to(tmp_path / "secret")
    with pytest.raises(SamecamError, match="is a link"):
        read_about(tmp_path)
    with pytest.raises(SamecamError, match="is a link"):
        write_about_template(tmp_path)


def test_the_template_is_read_and_never_replaces_a_file(case):
    path = write_about_template(case)
    assert path.read_text(encoding="utf-8") == TEMPLATE
    assert read_about(case) == About()
    lines = [line.removeprefix("# ") for line in TEMPLATE.splitlines() if " = " in line]
    lines = [line for line in lines if not line.startswith("exhibits = [")]
    path.write_text("\n".join(lines), encoding="utf-8")
    filled = read_about(case)
    assert filled.signed_on == "2026-01-31"
    assert all(getattr(filled, name) for name in About.__dataclass_fields__)
    with pytest.raises(SamecamError, match="is there already"):
        write_about_template(case)


def test_the_page_says_it_as_text(case):
    (case / "about.toml").write_text(FULL, encoding="utf-8")
    page = write_report(case, thumbnails=False).read_text(encoding="utf-8")
    assert "A. &lt;b&gt;Examiner&lt;/b&gt;" in page
    assert "alert(9)</script>" not in page
    assert '<bdi class="name">First line</bdi><br><bdi class="name">second line</bdi>' in page
    assert '<span class="odd">\\u202e</span>they are one.' in page
    assert "Signed by A. Examiner, 2026-01-31" in page
    assert page.index("Question</h2>") < page.index("Conclusion</h2>") < page.index("Limits</h2>")
    assert "Draft" not in page
    (case / "about.toml").unlink()
    draft = write_report(case, thumbnails=False).read_text(encoding="utf-8")
    assert "Draft, not signed" in draft
    assert 'content: "Draft\\2c  not signed"' in draft


def test_a_report_is_of_what_persons_say_too(case):
    info = open_case(case).info
    write_report(case, thumbnails=False)
    assert report_is_current(case, info)
    for name in ("about.toml", "decisions.jsonl"):
        (case / name).write_text("# nothing\n", encoding="utf-8")
        assert not report_is_current(case, info)
        (case / name).unlink()
        assert report_is_current(case, info)


@given(st.text(max_size=20))
def test_no_text_leaves_its_string_in_a_style(text):
    given_ = css_text(text)
    assert re.fullmatch(r'"([A-Za-z0-9 ]|\\[0-9a-f]+ )*"', given_)
    assert on_paper(About(case_number=text), text).count("{") == 4


def test_the_command_takes_words_that_are_not_kept(case):
    words = ["--examiner", "E. X", "--case-number", "77"]
    words += ["--exhibit", "A-1=photos", "--exhibit", "B"]
    words += ["--signed", "E. X", "2026-02-03", "--question", "Who?", "--no-thumbnails"]
    run = CliRunner().invoke(cli, ["report", str(case), *words])
    assert run.exit_code == 0, run.output
    page = (case / "report.html").read_text(encoding="utf-8")
    for said in ("E. X", "77", "A-1", "Signed by E. X, 2026-02-03", "Who?"):
        assert said in page
    assert not (case / "about.toml").exists()
    run = CliRunner().invoke(cli, ["report", str(case), "--signed", "E", "tomorrow"])
    assert "--signed has a date that is none" in str(run.exception)
    run = CliRunner().invoke(cli, ["report", str(case), "--about-template", "--json"])
    assert json.loads(run.stdout) == {"about": str(case / "about.toml")}
