import{w as o}from"./index-lQBYAPK3.js";const t=[["path",{d:"M9 6l6 6l-6 6",key:"svg-0"}]],n=o("outline","chevron-right","ChevronRight",t);export{n as I};
