-- The language of the console that a member chose. Null: that of the browser.
alter table members add column language text;
