// Preloaded: writes the modules of Node that the process has loaded when it ends to the file GEOFIX_LOADED.
const { writeFileSync } = require('node:fs')

process.on('exit', () => writeFileSync(process.env.GEOFIX_LOADED, JSON.stringify(process.moduleLoadList)))
