/** The folder of this package. The build writes this module: import.meta exists in one of its forms only. */
export declare const packageFolder: string
