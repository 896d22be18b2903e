-- Why the model stopped.
ALTER TABLE messages ADD COLUMN finish_reason TEXT;
