-- Who gave a file, folder or link its present name, when that is not who created it: a name is text that an agent reads.
alter table files add column named_by uuid;
