import type { ReportEntry, Verdict } from './report.ts'
import type { SourcePosition } from './source.ts'

interface Mark {
  readonly verdict: Verdict
  readonly note: string
  readonly isProtection: boolean
}

const RANK: Readonly<Record<Verdict, number>> = { carried: 0, changed: 1, 'not carried': 2 }

/** A line or directive of a config that is neither YAML nor JSON, with its verdict in the import report. */
export class Statement {
  readonly name: string
  readonly args: readonly string[]
  readonly at: SourcePosition
  /** The statements within the braces of the statement; null for a statement without braces. */
  readonly block: readonly Statement[] | null
  /** The text of the statement in the import report; it contains no secrets. */
  readonly text: string
  #mark: Mark | null = null
  #hint: Mark | null = null

  constructor({ name, args, at, block, text }: Pick<Statement, 'name' | 'args' | 'at' | 'block' | 'text'>) {
    this.name = name
    this.args = args
    this.at = at
    this.block = block
    const shown = text.replaceAll(/[^\x20-\x7e]+/g, ' ').replaceAll(/\/\/[^/@\s]*@/g, '//…@')
    this.text = shown.length > 160 ? `${shown.slice(0, 159)}…` : shown
  }

  /** Sets the note for the case that no other verdict is set: the statement is not carried. */
  hint(note: string, isProtection = false): void {
    this.#hint = { verdict: 'not carried', note, isProtection }
  }

  carried(note = ''): void {
    this.#setMark({ verdict: 'carried', note, isProtection: false })
  }

  changed(note: string, isProtection = false): void {
    this.#setMark({ verdict: 'changed', note, isProtection })
  }

  notCarried(note: string, isProtection = false): void {
    this.#setMark({ verdict: 'not carried', note, isProtection })
  }

  /** Sets the verdict. When several effects of a statement set a verdict, the worst verdict counts. */
  #setMark(mark: Mark): void {
    if (this.#mark === null || RANK[mark.verdict] > RANK[this.#mark.verdict]) this.#mark = mark
  }

  /** Returns the report entries for this statement and for all statements within its block. */
  reportOf(isProtection: (name: string) => boolean): ReportEntry[] {
    const mark = this.#mark ??
      this.#hint ?? {
        ...{ verdict: 'not carried' as const, note: 'the importer does not know this directive in this context' },
        isProtection: isProtection(this.name),
      }
    return [
      { ...mark, at: this.at, name: this.text },
      ...(this.block ?? []).flatMap((each) => each.reportOf(isProtection)),
    ]
  }
}
