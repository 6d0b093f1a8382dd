"""Crontab files: both forms, environment lines, percent signs, and what needs a person."""

from mainspring.domain.crontab import parse

SYSTEM = """\
# a comment
SHELL=/bin/bash
MAILTO="admin"
PATH = '/usr/bin:/bin'
17 *\t* * *\troot    cd / && run-parts --report /etc/cron.hourly
CRON_TZ=Asia/Tokyo
@daily www-data /usr/bin/find /tmp -name "*.x" -printf "\\%f"
0 22 * * 1-5   backup  mail -s "late" user%Hello,%%Where?
61 * * * * root /bin/true
@reboot root /usr/bin/start
H * * * * root /bin/true
5 4 * * 0 root
"""


def test_a_system_crontab():
    found = parse(SYSTEM, tz="Europe/Berlin")
    assert found.system
    hourly, daily, mail = found.entries
    assert (hourly.name, hourly.user, hourly.line) == ("run-parts", "root", 5)
    assert hourly.recurrence == {"cron": "17 * * * *", "tz": "Europe/Berlin"}
    assert hourly.argv == [
        "env",
        "PATH=/usr/bin:/bin",
        "/bin/bash",
        "-c",
        "cd / && run-parts --report /etc/cron.hourly",
    ]
    assert daily.recurrence == {"cron": "@daily", "tz": "Asia/Tokyo"}
    assert daily.command.endswith('-printf "%f"')
    assert (mail.command, mail.stdin) == ('mail -s "late" user', "Hello,\n\nWhere?")
    assert mail.argv[-2:] == ["crontab", "Hello,\n\nWhere?"]
    assert "not mailed" in found.notes[0]


def test_what_needs_a_person_is_told_by_line_with_the_reason():
    refused = {entry.line: entry.why for entry in parse(SYSTEM).refused}
    assert sorted(refused) == [9, 10, 11, 12]
    assert "minute '61'" in refused[9]
    assert "@reboot is no time" in refused[10]
    assert "Jenkins" in refused[11]
    assert "no command" in refused[12]


def test_a_user_crontab_has_no_user_and_doubled_names_are_numbered():
    found = parse(
        "0 6 * * *  ~/jobs/backup_db\n30 6 * * *\t~/jobs/backup_db --all\nRANDOM_DELAY=5\n@hourly php /x/stats.php\n"
    )
    assert not found.system
    assert [entry.name for entry in found.entries] == ["backup-db", "backup-db-2", "stats"]
    assert [entry.user for entry in found.entries] == [None, None, None]
    assert [entry.jitter_minutes for entry in found.entries] == [0, 0, 5]
    assert found.entries[0].argv == ["/bin/sh", "-c", "~/jobs/backup_db"]


def test_which_form_it_is_can_be_told():
    assert parse("0 6 * * * deploy /x\n", system=True).entries[0].user == "deploy"
    assert parse("0 6 * * * root /x\n", system=False).entries[0].command == "root /x"


def test_what_is_not_utf8_needs_a_person_and_the_rest_is_taken():
    text = b"\xef\xbb\xbf0 1 * * * first\r\nNAME=M\xfcller\r\n0 2 * * * echo \xff\n0 3 * * * last"
    found = parse(text.decode(errors="surrogateescape"))
    assert [(entry.name, entry.line) for entry in found.entries] == [("first", 1), ("last", 4)]
    assert [(line, why) for line, _, why in found.refused] == [(2, "it is not UTF-8"), (3, "it is not UTF-8")]
    assert found.refused[1].text == "0 2 * * * echo \\xff"
    assert found.entries[1].environment == {}


def test_an_empty_zone_is_that_of_the_machine_and_names_of_others_are_left_to_them():
    text = "CRON_TZ=Asia/Tokyo\n0 1 * * * a\nCRON_TZ=\n0 2 * * * b\n"
    found = parse(text, tz="Europe/Berlin", taken={"a", "a-2"})
    assert [(entry.name, entry.recurrence["tz"]) for entry in found.entries] == [
        ("a-3", "Asia/Tokyo"),
        ("b", "Europe/Berlin"),
    ]
