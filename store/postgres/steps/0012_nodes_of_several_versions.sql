-- Processes of two versions serve one database: each says which form of the tables it knows,
-- and which form a program has to know to continue the runs that it stores.
-- readable from: 10

ALTER TABLE meta ADD COLUMN readable_from bigint NOT NULL DEFAULT 10;
ALTER TABLE nodes ADD COLUMN form bigint NOT NULL DEFAULT 10, ADD COLUMN written bigint NOT NULL DEFAULT 10;
