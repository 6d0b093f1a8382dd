"""The table of settings: each row reads what people write and refuses the rest."""

from __future__ import annotations

import msgspec
import pytest

from mainspring.clock import SECOND
from mainspring.domain.setting import BY_NAME, SETTINGS, Kind, Setting, Settings, Unfit, read, value_text


def test_the_table_and_the_struct_name_the_same_settings():
    assert [setting.name for setting in SETTINGS] == [field.name for field in msgspec.structs.fields(Settings)]


def test_flags_and_variables_are_unique():
    assert len({setting.flag for setting in SETTINGS}) == len(SETTINGS)
    assert len({setting.variable for setting in SETTINGS}) == len(SETTINGS)


@pytest.mark.parametrize(
    "setting", [one for one in SETTINGS if one.default not in (None, "")], ids=lambda one: one.name
)
def test_each_default_is_the_structs_and_reads_back_from_its_own_text(setting: Setting):
    assert getattr(Settings(), setting.name) == setting.default
    if setting.default:
        assert read(setting, value_text(setting, setting.default)) == setting.default


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: one.name)
def test_each_setting_has_a_sentence_and_says_what_is_right(setting: Setting):
    assert setting.sentence.endswith(".")
    assert setting.right
    assert setting.default_text or setting.name == "app"


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("port", "80", 80),
        ("port", 80, 80),
        ("lease", "2s", 2 * SECOND),
        ("lease", "1m30s", 90 * SECOND),
        ("drain", "0s", 0),
        ("queues", "mail, bulk,mail", ("mail", "bulk")),
        ("queues", ["mail"], ("mail",)),
        ("labels", "disk=fast, zone=a", {"disk": "fast", "zone": "a"}),
        ("labels", ("disk=a,b",), {"disk": "a,b"}),
        ("labels", {"disk": "fast"}, {"disk": "fast"}),
        ("log_format", "json", "json"),
        ("name", "alpha-1", "alpha-1"),
        ("app", " shop:app ", "shop:app"),
    ],
)
def test_a_value_is_read_into_its_own_type(name: str, given: object, value: object):
    assert read(BY_NAME[name], given) == value


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("port", "-1"),
        ("port", "65536"),
        ("port", "8_0"),
        ("port", "٣"),
        ("port", "9" * 400),
        ("port", True),
        ("port", 80.0),
        ("lease", 30),
        ("lease", "30"),
        ("lease", "-1s"),
        ("lease", "500ms"),
        ("lease", "25h"),
        ("lease", None),
        ("poll", "61s"),
        ("queues", ""),
        ("queues", []),
        ("queues", ["a b"]),
        ("queues", [1]),
        ("labels", "disk"),
        ("labels", {"disk": 1}),
        ("labels", {"a b": "c"}),
        ("log_format", "xml"),
        ("name", "a/b"),
        ("app", ""),
        ("app", "a\0b"),
        ("app", "x" * 1001),
        ("app", 7),
    ],
)
def test_a_value_that_it_can_not_have_is_refused(name: str, given: object):
    with pytest.raises(Unfit):
        read(BY_NAME[name], given)


def test_every_kind_is_used():
    assert {setting.kind for setting in SETTINGS} == set(Kind)
