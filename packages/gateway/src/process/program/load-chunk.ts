import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { constants, Script } from 'node:vm'

/** A chunk, compiled as the function of a CommonJS module. */
type Chunk = (exports: object, require: (id: string) => unknown, module: { exports: object }, file: string) => void

/** The file with the code cache of all chunks of a plain start, so that a start reads 75 files instead of 150. */
export const START_PACK = 'start.pack'
/** The time after which no more chunks of the start pack are expected. */
const START_MS = 1_000
/** V8 copies a code cache that does not begin at a multiple of this. */
const ALIGNMENT = 8

/**
 * Loads chunks of the built program. The build puts the code cache of V8 beside them, for one runtime and both kinds of
 * threads; other runtimes compile the chunks. The cache needs no check, because it is as writable as the chunks.
 */
export function chunkLoader(folder: string, codeFolder: string): (name: string) => object {
  const modules = new Map<string, { exports: object }>()
  const packed = readPack(join(codeFolder, START_PACK))
  // The code shares one memory, which a start no longer needs after this time.
  if (packed.size > 0) setTimeout(() => packed.clear(), START_MS).unref()
  let requirePackage: ((id: string) => unknown) | null = null
  const require = (id: string): unknown => {
    if (id.startsWith('./')) return load(id.slice(2))
    return process.getBuiltinModule(id) ?? (requirePackage ??= packageLoader(folder))(id)
  }
  function load(name: string): object {
    const known = modules.get(name)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    modules.set(name, module)
    const file = `${folder}/${name}`
    // Chunks are ASCII: as Latin-1 they take one byte a character in memory.
    const text = readOnce(file).toString('latin1')
    const script = new Script(`(function (exports, require, module, __filename) {${text}\n})`, {
      filename: file,
      cachedData: packed.get(name) ?? readIfPresent(join(codeFolder, `${name}.bin`)),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
    const chunk = script.runInThisContext() as Chunk
    chunk(module.exports, require, module, file)
    return module.exports
  }
  return load
}

/** The folder of compiled code for this version of Node, platform and kind of thread, beside the folder of the chunks. */
export function codeFolder(folder: string, thread: 'main' | 'worker'): string {
  return join(folder, `../code/${process.version}-${process.platform}-${process.arch}-${thread}`)
}

/** `packCode` returns the content of a start pack: a line of JSON with the position of the code of each chunk, then the code. */
export function packCode(codeByChunk: ReadonlyMap<string, Uint8Array>): Buffer {
  const parts: Uint8Array[] = []
  let end = 0
  const append = (bytes: Uint8Array): [begin: number, end: number] => {
    const begin = Math.ceil(end / ALIGNMENT) * ALIGNMENT
    parts.push(new Uint8Array(begin - end), bytes)
    end = begin + bytes.length
    return [begin, end]
  }
  const index = Array.from(codeByChunk, ([name, code]) => [name, ...append(code)])
  const head = JSON.stringify(index)
  const padding = ALIGNMENT - 1 - (head.length % ALIGNMENT)
  return Buffer.concat([Buffer.from(`${head}${' '.repeat(padding)}\n`), ...parts])
}

function readPack(file: string): Map<string, Buffer> {
  const bytes = readIfPresent(file)
  if (bytes === undefined) return new Map()
  const begin = bytes.indexOf('\n') + 1
  const index = JSON.parse(bytes.toString('latin1', 0, begin)) as [string, number, number][]
  return new Map(index.map(([name, from, to]) => [name, bytes.subarray(begin + from, begin + to)]))
}

function packageLoader(folder: string): (id: string) => unknown {
  return process.getBuiltinModule('node:module').createRequire(join(folder, 'chunk.js'))
}

function readIfPresent(file: string): Buffer | undefined {
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
