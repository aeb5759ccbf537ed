import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { PageType, Reply } from '../http.ts'

/** The built pages. Names of requests are looked up in a list that was read once: none of them becomes a path. */
export class PageFiles {
  readonly #folder: string
  readonly #names: ReadonlySet<string>
  readonly #read = new Map<string, { plain: Buffer; packed: Buffer }>()

  constructor(folder: string) {
    this.#folder = folder
    this.#names = new Set(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
        .map((entry) => relative(folder, join(entry.parentPath, entry.name))),
    )
  }

  /** The page itself: one file, whatever its address. */
  page(acceptsGzip: boolean): Reply {
    return this.#reply('index.html', acceptsGzip, 'no-cache')
  }

  /** Returns null for an unknown name. The name of an asset contains a hash of its content. */
  asset(name: string, acceptsGzip: boolean): Reply | null {
    if (!this.#names.has(name) || name === 'index.html') return null
    return this.#reply(name, acceptsGzip, 'public, max-age=31536000, immutable')
  }

  #reply(name: string, acceptsGzip: boolean, caching: string): Reply {
    const { plain, packed } = this.#contents(name)
    return {
      status: 200,
      type: TYPES[extname(name)],
      headers: {
        ...PAGE_HEADERS,
        'cache-control': caching,
        vary: 'accept-encoding',
        ...(acceptsGzip && { 'content-encoding': 'gzip' }),
      },
      body: acceptsGzip ? packed : plain,
    }
  }

  #contents(name: string): { plain: Buffer; packed: Buffer } {
    let contents = this.#read.get(name)
    if (contents === undefined) {
      const plain = readFileSync(join(this.#folder, name))
      contents = { plain, packed: gzipSync(plain) }
      this.#read.set(name, contents)
    }
    return contents
  }
}

const TYPES: Readonly<Record<string, PageType>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Nothing inline, nothing evaluated, nothing from elsewhere, in no frame. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
}
