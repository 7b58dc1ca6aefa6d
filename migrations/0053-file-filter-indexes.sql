-- Filters of lists of files by creator and by tag. By type and time of the last change, the indexes of 0044 have the files
-- of a folder.

create index files_by_creator on files (org_id, created_by, id) where deleted_at is null;
-- Most files have no tags and are not in it. With a pending list of 256 kB, merging it delays a change by milliseconds.
create index files_by_tag on files using gin (file_tag_keys(org_id, tags)) with (gin_pending_list_limit = 256)
  where deleted_at is null and tags <> '{}';
