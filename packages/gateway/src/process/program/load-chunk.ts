import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { constants, Script } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/** A chunk, compiled as the function of a CommonJS module. */
type Chunk = (exports: object, require: (id: string) => unknown, module: { exports: object }, file: string) => void

/**
 * Loads chunks of the built program. The build puts the code cache of V8 beside them, for one runtime and both kinds of
 * threads; other runtimes compile the chunks. The cache needs no check, because it is as writable as the chunks.
 */
export function chunkLoader(
  folder: string,
  codeFolder = join(folder, '../code', codeName()),
): (name: string) => object {
  const modules = new Map<string, { exports: object }>()
  const requireOther = createRequire(join(folder, 'chunk.js'))
  const require = (id: string): unknown => (id.startsWith('./') ? load(id.slice(2)) : requireOther(id))
  function load(name: string): object {
    const known = modules.get(name)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    modules.set(name, module)
    const file = join(folder, name)
    // Chunks are ASCII: as Latin-1 they take one byte a character in memory.
    const text = readOnce(file).toString('latin1')
    const script = new Script(`(function (exports, require, module, __filename) {${text}\n})`, {
      filename: file,
      cachedData: readCode(join(codeFolder, `${name}.bin`)),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
    const chunk = script.runInThisContext() as Chunk
    chunk(module.exports, require, module, file)
    return module.exports
  }
  return load
}

/** The folder of compiled code for this version of Node, platform and kind of thread. */
export function codeName(): string {
  return `${process.version}-${process.platform}-${process.arch}-${isMainThread ? 'main' : 'worker'}`
}

function readCode(file: string): Buffer | undefined {
  try {
    return readOnce(file)
  } catch {
    return undefined
  }
}

/** Reads a file into memory that is returned to the system afterwards; the allocator would keep a block of this size in each thread. */
function readOnce(file: string): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    // Only a resizable buffer gets a memory mapping of its own.
    const bytes = Buffer.from(new ArrayBuffer(size, { maxByteLength: size }))
    let read = 0
    while (read < size) {
      const count = readSync(descriptor, bytes, read, size - read, null)
      if (count === 0) throw new Error(`${file} is truncated`)
      read += count
    }
    return bytes
  } finally {
    closeSync(descriptor)
  }
}
