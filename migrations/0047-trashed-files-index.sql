-- What was deleted out of a folder and is in the trash: restricting the folder restricts it as well.

create index files_trashed_in on files (org_id, container_id) where trash_id is not null;
