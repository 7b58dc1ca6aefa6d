-- Favorites and recent files of each person.

-- The files, folders and links that a person has marked.
create table file_favorites (
  org_id uuid not null,
  user_id uuid not null,
  file_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (org_id, user_id, file_id),
  foreign key (org_id, user_id) references members (org_id, user_id) on delete cascade,
  foreign key (org_id, file_id) references files (org_id, id)
);

-- When a person last changed or opened a file. What they uploaded follows from the files themselves, so that uploads
-- write nothing here.
create table recent_files (
  org_id uuid not null,
  user_id uuid not null,
  file_id uuid not null,
  used_at timestamptz not null default now(),
  primary key (org_id, user_id, file_id),
  foreign key (org_id, user_id) references members (org_id, user_id) on delete cascade,
  foreign key (org_id, file_id) references files (org_id, id)
);
create index recent_files_by_use on recent_files (org_id, user_id, used_at desc);
