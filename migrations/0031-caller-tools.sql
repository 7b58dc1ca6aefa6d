-- Tools that the caller of a turn runs: { tools, choice, fromStep }. Null when the caller gave none.
alter table turns add client_tools jsonb;
