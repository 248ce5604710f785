"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.findBinary = findBinary;
const node_fs_1 = require("node:fs");
const node_path_1 = require("node:path");
const here_js_1 = require("./here.js");
const hint = 'hint: set BLUEPRINTD_BINARY=/path/to/blueprintd, or put the executable on the PATH';
/** Finds the program: by option, by the environment variable BLUEPRINTD_BINARY, in the folder of this package, on the PATH. */
function findBinary(option) {
    if (option)
        return named(option, 'the option binary');
    const variable = process.env['BLUEPRINTD_BINARY'];
    if (variable)
        return named(variable, 'BLUEPRINTD_BINARY');
    const name = process.platform === 'win32' ? 'blueprintd.exe' : 'blueprintd';
    for (const folder of [here_js_1.packageFolder, ...(process.env['PATH'] ?? '').split(node_path_1.delimiter)]) {
        if (folder && isProgram((0, node_path_1.join)(folder, name)))
            return (0, node_path_1.join)(folder, name);
    }
    throw new Error(`blueprintd not found: neither the option binary nor BLUEPRINTD_BINARY names one, and none is in ${here_js_1.packageFolder} or on the PATH.\n${hint}`);
}
function named(path, by) {
    const full = (0, node_path_1.resolve)(path);
    if (!isProgram(full))
        throw new Error(`${by} names ${full}, which is no program.\n${hint}`);
    return full;
}
function isProgram(path) {
    try {
        (0, node_fs_1.accessSync)(path, node_fs_1.constants.X_OK);
        return (0, node_fs_1.statSync)(path).isFile();
    }
    catch {
        return false;
    }
}
