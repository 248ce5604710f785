import{w as o}from"./index-lQBYAPK3.js";const t=[["path",{d:"M18 6l-12 12",key:"svg-0"}],["path",{d:"M6 6l12 12",key:"svg-1"}]],n=o("outline","x","X",t);export{n as I};
