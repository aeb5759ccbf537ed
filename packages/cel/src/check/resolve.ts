import type { Environment } from '../declarations.ts'
import { CelError } from '../error.ts'
import type { Expr } from '../parse/ast.ts'
import { dottedName } from '../parse/ast.ts'
import type { Plan } from '../plan.ts'
import { isPath, typeOfPath } from '../plan.ts'
import type { Problem } from '../position.ts'
import { positionAt } from '../position.ts'
import { typesByName } from '../run/type-of.ts'
import { resolveCall } from './calls.ts'
import { declaredPath } from './declared-path.ts'
import type { Locals, Resolver } from './resolver.ts'
import { suggest } from './suggest.ts'

interface Resolution {
  plan: Plan
  problems: Problem[]
}

const MAX_PROBLEMS = 20

/** Resolves names, functions and macros, and reports all problems at once. */
export function resolve(source: string, expr: Expr, environment: Environment): Resolution {
  const problems: Problem[] = []
  let locals = 0
  const resolver: Resolver = {
    environment,
    resolve: (inner, scope) => asValue(resolveExpr(resolver, inner, scope)),
    resolveOperand: (inner, scope) => resolveExpr(resolver, inner, scope),
    newLocal: () => locals++,
    refuse(message, offset, findSuggestion) {
      if (problems.length < MAX_PROBLEMS) {
        const suggestion = findSuggestion?.()
        problems.push({
          message,
          position: positionAt(source, offset),
          ...(suggestion !== undefined && { suggestion }),
        })
      }
      return { kind: 'failure', offset, error: new CelError('bad_value', message, offset) }
    },
    unknown(message, offset, suggestion) {
      if (!environment.lenient) return resolver.refuse(message, offset, suggestion)
      return { kind: 'failure', offset, error: new CelError('undeclared', message, offset) }
    },
    isVariable: (name) => environment.variables.has(name),
  }
  return { plan: resolver.resolve(expr, new Map()), problems }
}

/** A host struct becomes a map only when the expression uses the struct as a whole. */
function asValue(plan: Plan): Plan {
  if (isPath(plan) && typeOfPath(plan)?.kind === 'struct') return { kind: 'view', offset: plan.offset, path: plan }
  return plan
}

function resolveExpr(resolver: Resolver, expr: Expr, locals: Locals): Plan {
  const { offset } = expr
  const value = (inner: Expr): Plan => resolver.resolve(inner, locals)
  switch (expr.kind) {
    case 'literal':
      return { kind: 'constant', offset, value: expr.value }
    case 'name':
      return resolveName(resolver, expr, locals)
    case 'select':
      return resolveQualified(resolver, expr, locals) ?? resolveSelect(resolver, expr, locals)
    case 'index':
      return resolveIndex(resolver, expr, locals)
    case 'call':
      return resolveCall(resolver, expr, locals)
    case 'logic':
      return { kind: 'logic', offset, operator: expr.operator, items: expr.items.map(value) }
    case 'unary':
      return { kind: expr.operator === '!' ? 'not' : 'negate', offset, operand: value(expr.operand) }
    case 'binary':
      return { kind: 'binary', offset, operator: expr.operator, left: value(expr.left), right: value(expr.right) }
    case 'conditional':
      return { kind: 'conditional', offset, test: value(expr.test), yes: value(expr.yes), no: value(expr.no) }
    case 'list':
      return {
        kind: 'list',
        offset,
        items: expr.items.map((item) => ({ value: value(item.value), optional: item.optional })),
      }
    case 'map':
      return {
        kind: 'map',
        offset,
        entries: expr.entries.map((entry) => ({
          key: value(entry.key),
          value: value(entry.value),
          optional: entry.optional,
        })),
      }
  }
}

function resolveName(resolver: Resolver, expr: Expr & { kind: 'name' }, locals: Locals): Plan {
  const { name, offset } = expr
  const local = expr.absolute ? undefined : locals.get(name)
  if (local !== undefined) return { kind: 'local', offset, local }
  const declared = resolveDeclared(resolver, name, expr)
  if (declared !== undefined) return declared
  return resolver.unknown(`unknown variable \`${name}\``, offset, () =>
    suggest(name, [...resolver.environment.variables.keys(), ...locals.keys()]),
  )
}

/** `a.b.c` may be one declared name; the longest declared name wins. */
function resolveQualified(resolver: Resolver, expr: Expr & { kind: 'select' }, locals: Locals): Plan | undefined {
  const name = dottedName(expr)
  if (name === undefined || expr.optional) return undefined
  let first: Expr = expr
  while (first.kind === 'select') first = first.operand
  if (first.kind !== 'name' || (locals.has(first.name) && !first.absolute)) return undefined
  return resolveDeclared(resolver, name, first)
}

function resolveDeclared(resolver: Resolver, name: string, first: Expr & { kind: 'name' }): Plan | undefined {
  const { offset } = first
  const { variables, container } = resolver.environment
  for (let prefix = first.absolute ? '' : container; ; prefix = outerContainer(prefix)) {
    const qualified = prefix === '' ? name : `${prefix}.${name}`
    const type = variables.get(qualified)
    if (type !== undefined) return { kind: 'root', offset, name: qualified, type }
    if (prefix === '') break
  }
  const type = typesByName.get(name)
  return type && { kind: 'constant', offset, value: type }
}

function outerContainer(container: string): string {
  return container.slice(0, Math.max(0, container.lastIndexOf('.')))
}

function resolveSelect(resolver: Resolver, expr: Expr & { kind: 'select' }, locals: Locals): Plan {
  const { field, offset, optional } = expr
  const operand = resolver.resolveOperand(expr.operand, locals)
  const path = declaredPath(resolver, operand, field, offset)
  if (path === 'unknown')
    return { kind: 'failure', offset, error: new CelError('no_such_key', `no such key: ${field}`) }
  if (path !== undefined) return optional ? { kind: 'optionalPath', offset, path } : path
  if (!optional) return { kind: 'select', offset, operand, field }
  return { kind: 'optionalIndex', offset, operand, key: { kind: 'constant', offset, value: field } }
}

function resolveIndex(resolver: Resolver, expr: Expr & { kind: 'index' }, locals: Locals): Plan {
  const { offset, optional } = expr
  const operand = resolver.resolveOperand(expr.operand, locals)
  const key = resolver.resolve(expr.key, locals)
  if (key.kind === 'constant' && typeof key.value === 'string') {
    const path = declaredPath(resolver, operand, key.value, key.offset)
    if (path === 'unknown') return { kind: 'failure', offset, error: new CelError('no_such_key', 'no such key') }
    if (path !== undefined) return optional ? { kind: 'optionalPath', offset, path } : path
  }
  return { kind: optional ? 'optionalIndex' : 'index', offset, operand: asValue(operand), key }
}
