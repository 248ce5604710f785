// Package deploy makes a server match a folder of blueprint files: it says what
// differs (Compare) and applies it (Plan.Apply).
//
// A file is known by its path in the folder: the blueprint made from it bears the
// path, under a name for the folder, as its source. So files may be edited as one
// likes, and a file that was renamed is told from one that is new by what stands in
// it. Blueprints without a source of the folder's name are never touched.
//
// A plan finds the blueprints of files, makes them before those that refer to them,
// and stores nothing but ids.
//
// What a file does not say is of three kinds. Description, tags and variables that
// are not there are empty. Status, visibility and budget stay as they are on the
// server. Secrets that are null, and those of triggers that are not there, are kept;
// "" removes them.
package deploy
