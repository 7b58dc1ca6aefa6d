-- What an org calls a member is the org's own: one org must not read what another one wrote about the same person.
alter table members add column name text;
update members m set name = u.name from users u where u.id = m.user_id;
alter table members alter column name set not null;
