import type { z } from 'zod'
import { invalid } from './answer.ts'

/** Words of a vendor for what is wrong with a body. */
export interface Complaints {
  unknown(path: readonly PropertyKey[], name: string): string
  wrong(path: readonly PropertyKey[], message: string): string
}

/** The body as the schema says; `Refused` in the vendor's words when it does not fit. Vendors refuse unknown fields. */
export function check<T>(schema: z.ZodType<T>, body: unknown, complaints: Complaints): T {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const issue = deepest(parsed.error.issues)
  const param = dotted(issue.path)
  if (issue.code === 'unrecognized_keys') {
    const name = issue.keys[0] ?? ''
    throw invalid(complaints.unknown(issue.path, name), param === '' ? name : `${param}.${name}`)
  }
  throw invalid(complaints.wrong(issue.path, issue.message), param === '' ? null : param)
}

/** `messages[0].content` */
export function dotted(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '')
}

/** Reports the union branch that matched furthest into the value. */
function deepest(issues: z.core.$ZodIssue[]): z.core.$ZodIssue {
  const found = issues.map((issue): z.core.$ZodIssue => {
    if (issue.code !== 'invalid_union' || issue.errors.length === 0) return issue
    const inner = issue.errors.map(deepest).reduce((a, b) => (b.path.length > a.path.length ? b : a))
    return { ...inner, path: [...issue.path, ...inner.path] }
  })
  return found.reduce((a, b) => (b.path.length > a.path.length ? b : a))
}
