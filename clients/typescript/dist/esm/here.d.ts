/** The folder of this package. The build writes the form of this module for require, where import.meta does not exist. */
export declare const packageFolder: string;
