-- Event endpoints that receive the contents that an event refers to, such as the whole text of a message.
alter table event_endpoints add expand boolean not null default false;
