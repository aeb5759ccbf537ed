// Preloaded into the built program and its workers: at the end of each thread it saves the code that V8 compiled of the
// chunks.
const { existsSync, mkdirSync, writeFileSync } = require('node:fs')
const { basename, dirname, join } = require('node:path')
const vm = require('node:vm')
const { isMainThread } = require('node:worker_threads')

const scripts = new Map()
vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options)
    scripts.set(options.filename, this)
  }
}

process.on('exit', () => {
  recordOrder()
  for (const [file, script] of scripts) {
    const folder = folderOf(file)
    const to = join(folder, `${basename(file)}.bin`)
    // An earlier run loaded less, so its compiled code is what most configs need.
    if (existsSync(to)) continue
    mkdirSync(folder, { recursive: true })
    writeFileSync(to, script.createCachedData())
  }
})

/** Writes the names of the chunks that the first run loads, which a start pack gets. */
function recordOrder() {
  const [file] = scripts.keys()
  if (file === undefined) return
  const folder = folderOf(file)
  if (existsSync(folder)) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'order.json'), JSON.stringify(Array.from(scripts.keys(), (each) => basename(each))))
}

function folderOf(file) {
  const { codeFolder } = require(join(dirname(file), 'load-chunk.js'))
  return codeFolder(dirname(file), isMainThread ? 'main' : 'worker')
}
