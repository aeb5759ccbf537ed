import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The declarations of an installed SDK, read as text: what its requests may hold. */
export class SdkTypes {
  readonly #text: string

  /** `path` is that of a `.d.ts` file in the package. */
  constructor(packageName: string, path: string) {
    // Not every package lets its own files be resolved; the entry stands at its root.
    const root = dirname(createRequire(import.meta.url).resolve(packageName))
    this.#text = readFileSync(join(root, path), 'utf8')
  }

  /** The members of an interface that stand in the body of a request. */
  membersOf(name: string): string[] {
    const body = this.#bodyOf(name) ?? assert.fail(`the SDK has no interface ${name}`)
    const flat = withoutNested(body)
    const members = [...flat.matchAll(/(\/\*\*(?:(?!\*\/)[^])*\*\/)?\s*^ {4}(?:readonly )?'?([\w-]+)'?\??:/gm)]
    return members.filter(([, comment = '']) => !/Header param/.test(comment)).map(([, , member = '']) => member)
  }

  /** The values of `type` of every member of a union. */
  typesOf(union: string): string[] {
    const names = this.#unionOf(union) ?? assert.fail(`the SDK has no union ${union}`)
    return names.flatMap((name) => {
      const own = name.split('.').at(-1) ?? ''
      if (this.#unionOf(own) !== null) return this.typesOf(own)
      const body = withoutNested(this.#bodyOf(own) ?? assert.fail(`the SDK has no interface ${name}`))
      const [, type = ''] = /^ {4,8}type\??: ([^;]*);/m.exec(body) ?? []
      return [...type.matchAll(/'([^']+)'/g)].map(([, word = '']) => word)
    })
  }

  /** The values of `type` of the blocks in a list that a member of an interface is. */
  typesIn(name: string, member: string): string[] {
    const body = this.#bodyOf(name) ?? assert.fail(`the SDK has no interface ${name}`)
    const [, inner = ''] = new RegExp(`^ {4}${member}\\??: [^;]*Array<([^>]*)>`, 'm').exec(body) ?? []
    return inner.split('|').flatMap((each) => {
      const [, type = ''] = /^ {4}type\??: ([^;]*);/m.exec(this.#bodyOf(each.trim()) ?? '') ?? []
      return [...type.matchAll(/'([^']+)'/g)].map(([, word = '']) => word)
    })
  }

  #unionOf(name: string): string[] | null {
    const [, text] = new RegExp(`export type ${name} = ([^;{]*);`).exec(this.#text) ?? []
    return text === undefined ? null : text.split('|').map((each) => each.trim())
  }

  #bodyOf(name: string): string | null {
    const found = new RegExp(`interface ${name}\\b[^{]*\\{`).exec(this.#text)
    if (found === null) return null
    const start = found.index + found[0].length
    let depth = 1
    let end = start
    for (; depth > 0; end++) depth += this.#text[end] === '{' ? 1 : this.#text[end] === '}' ? -1 : 0
    return this.#text.slice(start, end - 1)
  }
}

/** Without what stands in braces, comments aside. */
function withoutNested(body: string): string {
  let depth = 0
  let out = ''
  const parts = body.split(/(\/\*\*(?:(?!\*\/)[^])*\*\/)/)
  for (const part of parts) {
    if (part.startsWith('/**')) {
      if (depth === 0) out += part
      continue
    }
    for (const letter of part) {
      if (letter === '}') depth -= 1
      if (depth === 0) out += letter
      if (letter === '{') depth += 1
    }
  }
  return out
}
