import { celMacros, globalMacros, methodMacros } from '../check/macros.ts'
import type { FunctionDefinition } from '../declarations.ts'
import { libraryFunctions } from '../library/index.ts'
import { ANY_NUMBER } from '../library/define.ts'

/** Returns a Markdown table of every macro and function. */
export function functionTable(): string {
  const macros = [...globalMacros, ...celMacros, ...methodMacros].map((macro) => row(macro.usage, macro.summary))
  const functions = libraryFunctions(undefined, new Map()).map((definition) =>
    row(usage(definition), definition.summary),
  )
  return ['| written | what it gives |', '|---|---|', ...macros, ...functions].join('\n')
}

function usage({ name, style, minArgs, maxArgs }: FunctionDefinition): string {
  return `${style === 'receiver' ? 'v.' : ''}${name}(${parameters(minArgs, maxArgs)})`
}

const LETTERS = 'abcdefgh'
const MANY = 5

/** Parameter names such as `a, b?`; optional ones have a question mark. */
function parameters(least: number, most: number): string {
  if (most >= Math.min(ANY_NUMBER, least + MANY)) return [...LETTERS.slice(0, least).split(''), '…'].join(', ')
  return Array.from({ length: most }, (_, index) => LETTERS[index]! + (index < least ? '' : '?')).join(', ')
}

function row(written: string, summary: string): string {
  return `| \`${written}\` | ${summary} |`
}
