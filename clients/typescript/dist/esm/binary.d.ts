/** Finds the program: by option, by the environment variable BLUEPRINTD_BINARY, in the folder of this package, on the PATH. */
export declare function findBinary(option?: string): string;
