import type { ReportEntry, Verdict } from '../core/report.ts'
import type { SourcePosition } from '../core/source.ts'

/** A directive of nginx, with its verdict in the report. */
export class Directive {
  readonly name: string
  readonly args: readonly string[]
  readonly at: SourcePosition
  /** The directives of a block; null without a block. */
  readonly block: readonly Directive[] | null
  #mark: { verdict: Verdict; note: string; isProtection: boolean } | null = null

  constructor({ name, args, at, block }: Pick<Directive, 'name' | 'args' | 'at' | 'block'>) {
    this.name = name
    this.args = args
    this.at = at
    this.block = block
  }

  /** The same directive with other directives in its block. */
  withBlock(block: readonly Directive[]): Directive {
    return new Directive({ name: this.name, args: this.args, at: this.at, block })
  }

  carried(note = ''): void {
    this.#mark = { verdict: 'carried', note, isProtection: false }
  }

  changed(note: string, isProtection = false): void {
    this.#mark = { verdict: 'changed', note, isProtection }
  }

  notCarried(note: string, isProtection = false): void {
    this.#mark = { verdict: 'not carried', note, isProtection }
  }

  get isMarked(): boolean {
    return this.#mark !== null
  }

  /** An entry for this directive and for each one below it. */
  reportOf(): ReportEntry[] {
    const mark = this.#mark ?? {
      verdict: 'not carried',
      note: 'the importer does not know this directive in this context',
      isProtection: PROTECTIONS.test(this.name),
    }
    return [{ ...mark, at: this.at, name: this.text }, ...(this.block ?? []).flatMap((each) => each.reportOf())]
  }

  /** The directive in reports. Values that may be secrets are left out. */
  get text(): string {
    const shown = PUBLIC_ARGUMENTS.has(this.name)
      ? this.args
      : this.args.slice(0, FIRST_ARGUMENT.has(this.name) ? 1 : 0)
    const words = [this.name, ...shown.map((arg) => arg.replace(/\/\/[^/@]*@/, '//…@'))].join(' ')
    return words.length > 160 ? `${words.slice(0, 159)}…` : words
  }
}

/** Directives that limit access. */
const PROTECTIONS =
  /^(allow|deny|satisfy|auth_|limit_|valid_referers|secure_link|ssl_verify|ssl_client|ssl_trusted|modsecurity|internal$|access_by)/

const PUBLIC_ARGUMENTS = new Set([
  ...['listen', 'server_name', 'location', 'upstream', 'server', 'proxy_pass', 'include', 'rewrite', 'allow', 'deny'],
  ...[
    'root',
    'alias',
    'try_files',
    'index',
    'gzip',
    'limit_req',
    'limit_conn',
    'error_page',
    'fastcgi_pass',
    'uwsgi_pass',
  ],
  ...['proxy_read_timeout', 'proxy_send_timeout', 'proxy_connect_timeout', 'proxy_http_version', 'keepalive'],
  ...[
    'worker_processes',
    'worker_connections',
    'client_max_body_size',
    'ssl_protocols',
    'user',
    'error_log',
    'access_log',
  ],
])
const FIRST_ARGUMENT = new Set(['if', 'proxy_set_header', 'add_header', 'return', 'set', 'map', 'limit_req_zone'])

/** The directives at a place, and around it; the nearest level that has a directive counts. */
export class Scope {
  readonly own: readonly Directive[]
  readonly #outer: Scope | null

  constructor(own: readonly Directive[], outer: Scope | null = null) {
    this.own = own
    this.#outer = outer
  }

  /** All directives of the name at the nearest level that has one. */
  all(name: string): readonly Directive[] {
    const found = this.own.filter((each) => each.name === name)
    return found.length > 0 || this.#outer === null ? found : this.#outer.all(name)
  }

  /** Returns all directives for which a condition is true, from the innermost level that has such a directive. */
  nearest(condition: (directive: Directive) => boolean): readonly Directive[] {
    const found = this.own.filter(condition)
    return found.length > 0 || this.#outer === null ? found : this.#outer.nearest(condition)
  }

  /** The last one counts. */
  one(name: string): Directive | null {
    return this.all(name).at(-1) ?? null
  }

  /** Directives of the name at this level alone. */
  here(name: string): Directive | null {
    return this.own.findLast((each) => each.name === name) ?? null
  }
}
