import type { Directive, Scope } from './directive.ts'

/** A named location that requests get without a file. */
interface Fallback {
  readonly directive: Directive
  readonly name: string
}

/** The named location of `try_files`, or of `error_page 404` where files would be served; null without one. */
export function fallbackOf(scope: Scope): Fallback | null {
  const tried = scope.here('try_files')
  if (tried !== null) {
    const files = tried.args.slice(0, -1)
    const name = tried.args.at(-1) ?? ''
    const isPlain = files.every((file) => !/\$(?!uri\b|\{uri\}|document_uri\b)/.test(file))
    return name.startsWith('@') && isPlain ? { directive: tried, name } : null
  }
  const page = scope.here('proxy_pass') === null ? pageOf(scope, '404') : null
  return page?.name == null ? null : { directive: page.directive, name: page.name }
}

/** The error page in place of a `return` without a text; null without one, or when the status stays. */
export function errorPageOf(scope: Scope, returned: Directive): { directive: Directive; name: string | null } | null {
  const [status = '', text] = returned.args
  return /^[45]\d\d$/.test(status) && text === undefined ? pageOf(scope, status) : null
}

/** The page for a status that has a status of its own. `name` is null if the page is no named location. */
function pageOf(scope: Scope, status: string): { directive: Directive; name: string | null } | null {
  const directive = scope.all('error_page').find(({ args }) => args.slice(0, -1).includes(status))
  const change = directive?.args.find((arg) => arg.startsWith('='))
  if (directive === undefined || change === undefined) return null
  const target = directive.args.at(-1) ?? ''
  return { directive, name: change === '=' && target.startsWith('@') ? target : null }
}
