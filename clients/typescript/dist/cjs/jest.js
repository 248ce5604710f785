"use strict";
var __createBinding = (this && this.__createBinding) || (Object.create ? (function(o, m, k, k2) {
    if (k2 === undefined) k2 = k;
    var desc = Object.getOwnPropertyDescriptor(m, k);
    if (!desc || ("get" in desc ? !m.__esModule : desc.writable || desc.configurable)) {
      desc = { enumerable: true, get: function() { return m[k]; } };
    }
    Object.defineProperty(o, k2, desc);
}) : (function(o, m, k, k2) {
    if (k2 === undefined) k2 = k;
    o[k2] = m[k];
}));
var __exportStar = (this && this.__exportStar) || function(m, exports) {
    for (var p in m) if (p !== "default" && !Object.prototype.hasOwnProperty.call(exports, p)) __createBinding(exports, m, p);
};
Object.defineProperty(exports, "__esModule", { value: true });
exports.useBlueprintd = useBlueprintd;
const hooks_js_1 = require("./hooks.js");
__exportStar(require("./index.js"), exports);
/** One line gives the tests of a file a server: `const blueprintd = useBlueprintd()`. */
function useBlueprintd(options = {}) {
    const hooks = globalThis;
    if (!hooks.beforeAll)
        throw new Error('useBlueprintd of blueprintd/jest needs the globals of Jest; set injectGlobals, or call startBlueprintd yourself');
    return (0, hooks_js_1.around)(hooks, options);
}
