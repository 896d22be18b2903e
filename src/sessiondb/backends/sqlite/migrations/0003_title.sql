-- A name for people.
ALTER TABLE sessions ADD COLUMN title TEXT;
