-- Of the lists of sessions by source, of the search of messages (0048) and of the versions of a message (0049).

create index sessions_by_source on sessions (
  org_id, workspace_id, (coalesce(source, case relationship when 'connector' then 'chat' when 'peer' then 'agent' end)),
  changed_at desc) where deleted_at is null;
-- With a pending list of 256 kB, merging it delays a turn by a few milliseconds; with the default of 4 MB, by hundreds.
create index messages_search on messages using gin (coalesce(words, search_words(org_id, left(message_text(parts), 4000))))
  with (gin_pending_list_limit = 256);
-- Titles have no index: the first turn of a session sets its title, and would write to every index of the session.
create index turns_by_version on turns (org_id, session_id, version_of) where version_of is not null;
