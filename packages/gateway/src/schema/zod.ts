import * as z from 'zod'
import { type Absence, type ListNode, type MapNode, type Node, type ObjectNode, Refusal, repeated } from './kit.ts'
import type { ScalarNode, Schema } from './kit.ts'
import type { ProblemCode } from './problem.ts'
import { brokenRules } from './rules.ts'

/** The details that our own checks attach to issues of Zod. */
export interface IssueParams {
  code: ProblemCode
  found?: string
  /** Replaces the expectation of the definition. */
  expected?: string
  /** The key at fault, when the issue is about a whole mapping. */
  key?: string
  /** Keys of which any one would fix the issue. */
  absent?: readonly string[]
  detail?: string | null
  suggestion?: string | null
}

let forms: Forms | null = null

/** The definition as a Zod schema, which reports all problems of an input. */
export function zodOf<Out>(schema: Schema<Out>): z.ZodType<Out> {
  forms ??= new Forms()
  return forms.of(schema) as z.ZodType<Out>
}

/** Zod schemas, created only when a config has a problem: creating them takes longer than reading a valid config. */
class Forms {
  readonly #known = new WeakMap<Schema, z.ZodType>()
  readonly #knownNodes = new WeakMap<Node, z.ZodType>()

  constructor() {
    // A config is validated rarely: generating code for its validation would cost more than it saves.
    z.config({ jitless: true })
  }

  of(schema: Schema): z.ZodType {
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    const { field, absences } = schema
    const made = absences.reduceRight<z.ZodType>(withAbsence, this.#ofNode(field.node))
    this.#known.set(schema, made)
    return made
  }

  /** Definitions that differ only in attributes share one Zod schema. */
  #ofNode(node: Node): z.ZodType {
    const known = this.#knownNodes.get(node)
    if (known !== undefined) return known
    const made = this.#make(node)
    this.#knownNodes.set(node, made)
    return made
  }

  #make(node: Node): z.ZodType {
    switch (node.kind) {
      case 'object':
        return this.#object(node)
      case 'list':
        return this.#list(node)
      case 'map':
        return this.#map(node)
      case 'scalar':
        return this.#scalar(node)
    }
  }

  #object({ fields, rules }: ObjectNode): z.ZodType {
    const members = Object.entries(fields).map(([name, field]) => [name, this.of(field)] as const)
    const schema = z.strictObject(Object.fromEntries(members))
    if (rules.length === 0) return schema
    // `when` runs the rules even if other parts of the value have problems, so that all problems are reported at once.
    return schema.superRefine(
      (value, context) => {
        for (const broken of brokenRules(rules, value))
          context.addIssue({ code: 'custom', params: broken satisfies IssueParams })
      },
      { when: () => true },
    )
  }

  #list({ item, min, max, uniqueBy }: ListNode): z.ZodType {
    const schema = z.array(this.of(item)).min(min).max(max)
    if (uniqueBy === null) return schema
    return schema.superRefine(
      (items, context) => {
        for (const { index, found } of repeated(items, uniqueBy)) {
          const params: IssueParams = { code: 'duplicate', found, expected: `each \`${uniqueBy}\` once` }
          context.addIssue({ code: 'custom', path: [index, uniqueBy], params })
        }
      },
      { when: () => true },
    )
  }

  #map({ value, min, max }: MapNode): z.ZodType {
    return z.record(z.string(), this.of(value)).superRefine(
      (entries, context) => {
        if (typeof entries !== 'object' || entries === null) return
        const count = Object.keys(entries).length
        if (count < min || count > max) {
          context.addIssue({ code: 'custom', params: { code: 'out_of_range' } satisfies IssueParams })
        }
      },
      { when: () => true },
    )
  }

  #scalar({ read }: ScalarNode): z.ZodType {
    return z.transform((input: unknown, context): unknown => {
      const result = read(input)
      if (!(result instanceof Refusal)) return result
      const { code, detail, suggestion } = result
      context.issues.push({ code: 'custom', input, params: { code, detail, suggestion } satisfies IssueParams })
      return z.NEVER
    })
  }
}

function withAbsence(inner: z.ZodType, absence: Absence): z.ZodType {
  return absence.kind === 'nothing' ? inner.optional() : inner.prefault(absence.value)
}
