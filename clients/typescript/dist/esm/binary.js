import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { packageFolder } from './here.js';
const hint = 'hint: set BLUEPRINTD_BINARY=/path/to/blueprintd, or put the executable on the PATH';
/** Finds the program: by option, by the environment variable BLUEPRINTD_BINARY, in the folder of this package, on the PATH. */
export function findBinary(option) {
    if (option)
        return named(option, 'the option binary');
    const variable = process.env['BLUEPRINTD_BINARY'];
    if (variable)
        return named(variable, 'BLUEPRINTD_BINARY');
    const name = process.platform === 'win32' ? 'blueprintd.exe' : 'blueprintd';
    for (const folder of [packageFolder, ...(process.env['PATH'] ?? '').split(delimiter)]) {
        if (folder && isProgram(join(folder, name)))
            return join(folder, name);
    }
    throw new Error(`blueprintd not found: neither the option binary nor BLUEPRINTD_BINARY names one, and none is in ${packageFolder} or on the PATH.\n${hint}`);
}
function named(path, by) {
    const full = resolve(path);
    if (!isProgram(full))
        throw new Error(`${by} names ${full}, which is no program.\n${hint}`);
    return full;
}
function isProgram(path) {
    try {
        accessSync(path, constants.X_OK);
        return statSync(path).isFile();
    }
    catch {
        return false;
    }
}
