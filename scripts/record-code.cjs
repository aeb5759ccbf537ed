// Preloaded into the built program and its workers: at the end of each thread it saves the code that V8 compiled of the
// chunks.
const { existsSync, mkdirSync, writeFileSync } = require('node:fs')
const { basename, dirname, join } = require('node:path')
const vm = require('node:vm')

const scripts = new Map()
vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options)
    scripts.set(options.filename, this)
  }
}

process.on('exit', () => {
  for (const [file, script] of scripts) {
    const { codeName } = require(join(dirname(file), 'load-chunk.js'))
    const folder = join(dirname(file), '../code', codeName())
    const to = join(folder, `${basename(file)}.bin`)
    // An earlier run loaded less, so its compiled code is what most configs need.
    if (existsSync(to)) continue
    mkdirSync(folder, { recursive: true })
    writeFileSync(to, script.createCachedData())
  }
})
