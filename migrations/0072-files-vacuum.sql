-- Storage by folder and pages by number read files by indexes alone. For rows that no vacuum has seen they read the table,
-- too, which takes about twice as long. By default, a vacuum waits until a fifth of the table is new.
alter table files set (autovacuum_vacuum_insert_scale_factor = 0.02);
