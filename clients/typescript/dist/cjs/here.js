"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.packageFolder = require("node:path").join(__dirname, "../..");
