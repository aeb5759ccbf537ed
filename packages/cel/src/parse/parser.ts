import type { Problem } from '../position.ts'
import { positionAt } from '../position.ts'
import type { BinaryOperator, Expr, OpenExpr } from './ast.ts'
import type { Token } from './lexer.ts'
import { numberValue, readToken } from './lexer.ts'
import { SyntaxProblem } from './syntax-problem.ts'

const MAX_SOURCE_LENGTH = 16_384
/** The deepest nesting allowed: enough for hand-written expressions, and safe for every native stack. */
const MAX_DEPTH = 200

type ParseResult = { ok: true; expr: Expr } | { ok: false; problem: Problem }

export function parse(source: string): ParseResult {
  try {
    if (source.length > MAX_SOURCE_LENGTH) {
      throw new SyntaxProblem(`an expression has at most ${MAX_SOURCE_LENGTH} characters`, MAX_SOURCE_LENGTH)
    }
    return { ok: true, expr: new Parser(source).parse() }
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    return { ok: false, problem: { message: error.message, position: positionAt(source, error.offset) } }
  }
}

const KEYWORDS = new Set(['true', 'false', 'null', 'in'])
const RESERVED = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
const RELATIONS = new Set(['==', '!=', '<', '<=', '>', '>=', 'in'])

class Parser {
  readonly #source: string
  #token: Token
  #depth = 0
  /** The end offset of the last token consumed. */
  #end = 0

  constructor(source: string) {
    this.#source = source
    this.#token = readToken(source, 0)
  }

  parse(): Expr {
    const expr = this.#expression()
    if (this.#token.kind !== 'end') this.#unexpected()
    return expr
  }

  #expression(): Expr {
    if (++this.#depth > MAX_DEPTH) this.#tooDeep()
    let expr = this.#logic('||')
    if (this.#isSymbol('?')) {
      const { offset } = this.#advance()
      const yes = this.#logic('||')
      this.#expect(':')
      expr = this.#made({ kind: 'conditional', offset, depth: 0, test: expr, yes, no: this.#expression() })
    }
    this.#depth--
    return expr
  }

  /** A chain of one operator becomes one node, whatever its length. */
  #logic(operator: '&&' | '||'): Expr {
    const next = (): Expr => (operator === '||' ? this.#logic('&&') : this.#relation())
    const first = next()
    if (!this.#isSymbol(operator)) return first
    const { offset } = this.#token
    const items = [first]
    while (this.#take(operator)) items.push(next())
    return this.#made({ kind: 'logic', offset, depth: 0, operator, items })
  }

  #relation(): Expr {
    let left = this.#sum()
    while (RELATIONS.has(this.#token.text) && (this.#token.kind === 'symbol' || this.#token.text === 'in')) {
      left = this.#binary(left, () => this.#sum())
    }
    return left
  }

  #sum(): Expr {
    let left = this.#product()
    while (this.#isSymbol('+') || this.#isSymbol('-')) left = this.#binary(left, () => this.#product())
    return left
  }

  #product(): Expr {
    let left = this.#unary()
    while (this.#isSymbol('*') || this.#isSymbol('/') || this.#isSymbol('%')) {
      left = this.#binary(left, () => this.#unary())
    }
    return left
  }

  #binary(left: Expr, readRight: () => Expr): Expr {
    const { offset, text } = this.#advance()
    return this.#made({ kind: 'binary', offset, depth: 0, operator: text as BinaryOperator, left, right: readRight() })
  }

  #unary(): Expr {
    const { offset, text } = this.#token
    if (!this.#isSymbol('!') && !this.#isSymbol('-')) return this.#member(this.#primary())
    this.#advance()
    // Unsigned numbers have no sign: a minus before one is an operator, which fails.
    if (text === '-' && this.#token.kind === 'number' && !/[uU]$/.test(this.#token.text)) {
      return this.#member(this.#number(offset, true))
    }
    if (++this.#depth > MAX_DEPTH) this.#tooDeep()
    const operand = this.#unary()
    this.#depth--
    return this.#made({ kind: 'unary', offset, depth: 0, operator: text === '!' ? '!' : '-', operand })
  }

  #member(start: Expr): Expr {
    let operand = start
    for (;;) {
      const { offset } = this.#token
      if (this.#take('.')) operand = this.#selection(operand)
      else if (this.#take('[')) {
        const optional = this.#take('?')
        const key = this.#expression()
        this.#expect(']')
        operand = this.#made({ kind: 'index', offset, depth: 0, operand, key, optional })
      } else if (this.#isSymbol('{') && isTypeName(operand)) {
        throw new SyntaxProblem('messages are not supported: write a map', offset)
      } else return operand
    }
  }

  #selection(operand: Expr): Expr {
    const optional = this.#take('?')
    const token = this.#advance()
    const isName = token.kind === 'name' && !KEYWORDS.has(token.text)
    if (!isName && token.kind !== 'quotedName') throw new SyntaxProblem('expected the name of a field', token.offset)
    const { offset, text } = token
    if (!optional && isName && this.#isSymbol('(')) {
      return this.#made({ kind: 'call', offset, depth: 0, target: operand, name: text, args: this.#arguments() })
    }
    return this.#made({ kind: 'select', offset, depth: 0, operand, field: text, optional })
  }

  #primary(): Expr {
    const token = this.#token
    const { offset } = token
    if (token.kind === 'number') return this.#number(offset, false)
    if (token.kind === 'literal') {
      this.#advance()
      return this.#made({ kind: 'literal', offset, depth: 0, value: token.value })
    }
    if (this.#take('(')) {
      const inner = this.#expression()
      this.#expect(')')
      inner.start = offset
      inner.end = this.#end
      return inner
    }
    if (this.#take('[')) return this.#list(offset)
    if (this.#take('{')) return this.#map(offset)
    const absolute = this.#take('.')
    if (this.#token.kind !== 'name') this.#unexpected()
    return this.#name(offset, absolute)
  }

  #name(offset: number, absolute: boolean): Expr {
    const { text: name, offset: nameOffset } = this.#advance()
    if (!absolute && KEYWORDS.has(name) && name !== 'in') {
      return this.#made({ kind: 'literal', offset, depth: 0, value: name === 'null' ? null : name === 'true' })
    }
    if (KEYWORDS.has(name) || RESERVED.has(name)) throw new SyntaxProblem(`\`${name}\` is a reserved word`, nameOffset)
    if (this.#isSymbol('('))
      return this.#made({ kind: 'call', offset, depth: 0, target: null, name, args: this.#arguments() })
    return this.#made({ kind: 'name', offset, depth: 0, name, absolute })
  }

  #number(offset: number, negative: boolean): Expr {
    return this.#made({ kind: 'literal', offset, depth: 0, value: numberValue(this.#advance(), negative) })
  }

  #arguments(): Expr[] {
    this.#expect('(')
    const args: Expr[] = []
    while (!this.#take(')')) {
      if (args.length > 0) this.#expect(',')
      args.push(this.#expression())
    }
    return args
  }

  #list(offset: number): Expr {
    const items: { value: Expr; optional: boolean }[] = []
    while (!this.#take(']')) {
      const optional = this.#take('?')
      items.push({ optional, value: this.#expression() })
      if (!this.#isSymbol(']')) this.#expect(',')
    }
    return this.#made({ kind: 'list', offset, depth: 0, items })
  }

  #map(offset: number): Expr {
    const entries: { key: Expr; value: Expr; optional: boolean }[] = []
    while (!this.#take('}')) {
      const optional = this.#take('?')
      const key = this.#expression()
      this.#expect(':')
      entries.push({ optional, key, value: this.#expression() })
      if (!this.#isSymbol('}')) this.#expect(',')
    }
    return this.#made({ kind: 'map', offset, depth: 0, entries })
  }

  #made(open: OpenExpr): Expr {
    const expr: Expr = Object.assign(open, { start: open.offset, end: this.#end })
    for (const child of childrenOf(expr)) {
      // Depth is computed on the tree, because loops build left-leaning chains without recursion.
      expr.depth = Math.max(expr.depth, child.depth + 1)
      expr.start = Math.min(expr.start, child.start)
    }
    if (expr.depth >= MAX_DEPTH) throw new SyntaxProblem('the expression is nested too deeply', expr.offset)
    return expr
  }

  #isSymbol(text: string): boolean {
    return this.#token.kind === 'symbol' && this.#token.text === text
  }

  #take(text: string): boolean {
    if (!this.#isSymbol(text)) return false
    this.#advance()
    return true
  }

  #expect(text: string): void {
    if (!this.#take(text)) this.#unexpected(`, expected \`${text}\``)
  }

  #advance(): Token {
    const token = this.#token
    this.#end = token.end
    if (token.kind !== 'end') this.#token = readToken(this.#source, token.end)
    return token
  }

  #unexpected(hint = ''): never {
    const found = this.#token.kind === 'end' ? 'end of the expression' : `\`${this.#token.text.slice(0, 40)}\``
    throw new SyntaxProblem(`unexpected ${found}${hint}`, this.#token.offset)
  }

  #tooDeep(): never {
    throw new SyntaxProblem('the expression is nested too deeply', this.#token.offset)
  }
}

function isTypeName(expr: Expr): boolean {
  return expr.kind === 'name' || (expr.kind === 'select' && isTypeName(expr.operand))
}

export function childrenOf(expr: Expr): Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'name':
      return []
    case 'select':
    case 'unary':
      return [expr.operand]
    case 'index':
      return [expr.operand, expr.key]
    case 'call':
      return expr.target === null ? expr.args : [expr.target, ...expr.args]
    case 'logic':
      return expr.items
    case 'binary':
      return [expr.left, expr.right]
    case 'conditional':
      return [expr.test, expr.yes, expr.no]
    case 'list':
      return expr.items.map((item) => item.value)
    case 'map':
      return expr.entries.flatMap((entry) => [entry.key, entry.value])
  }
}
