import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PageFiles } from '../../admin/ui/page-files.ts'
import type { PageSource, PageState } from '../../admin/ui/page-source.ts'

/** The web UI beside this program: built with a package, or by a checkout once somebody opens it. */
export function pagesBeside(program: string): PageSource {
  const built = new URL('../ui/', program)
  if (existsSync(new URL('index.html', built))) return new Pages(null, fileURLToPath(built))
  const builder = builderOf(program)
  return new Pages(builder, null)
}

/** The script of a checkout that builds them; null elsewhere. */
function builderOf(program: string): string | null {
  // Only a checkout has its programs as sources, or in this cache: both are five folders below its root.
  if (!program.endsWith('.ts') && !program.includes('/node_modules/.cache/portico/')) return null
  const builder = new URL('../../../../../scripts/fresh-ui.mjs', program)
  return existsSync(builder) ? fileURLToPath(builder) : null
}

export class Pages implements PageSource {
  readonly #builder: string | null
  #state: PageState | null = null
  #folder: string | null
  #startedAt = 0
  #stop: () => void = () => {}

  constructor(builder: string | null, folder: string | null) {
    this.#builder = builder
    this.#folder = folder
  }

  open(): PageState {
    this.#state ??= this.#begin()
    if (this.#state.kind !== 'building') return this.#state
    return { kind: 'building', seconds: Math.round((performance.now() - this.#startedAt) / 1000) }
  }

  again(): void {
    if (this.#state?.kind === 'failed') this.#state = null
  }

  close(): void {
    this.#stop()
  }

  #begin(): PageState {
    if (this.#folder !== null) return { kind: 'ready', files: new PageFiles(this.#folder) }
    if (this.#builder === null) return { kind: 'missing' }
    this.#startedAt = performance.now()
    void this.#build(this.#builder)
    return { kind: 'building', seconds: 0 }
  }

  async #build(builder: string): Promise<void> {
    const { runBuilder } = await import('./run-builder.ts')
    const { result, stop } = runBuilder(builder)
    this.#stop = stop
    const { folder, said } = await result
    if (folder === null) this.#state = { kind: 'failed', why: said }
    else {
      this.#folder = folder
      this.#state = null
    }
  }
}
