import { type DraftField, EMPTY_DRAFT } from './draft.ts'

/** A problem of the admin API: beside a field, or at the top of the form. */
interface FormProblem {
  /** Null for a problem that no field has. */
  readonly field: DraftField | null
  /** The position in a list of limits or budgets. */
  readonly item: number | null
  readonly text: string
}

/** Reads the text of a refusal, one problem in each line: `budgets[0].usd: found "a lot", expected a number`. */
export function readProblems(text: string): FormProblem[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', item, rest = '', message = ''] = PROBLEM.exec(line) ?? []
      if (!Object.hasOwn(EMPTY_DRAFT, name)) return { field: null, item: null, text: line }
      const field = name as DraftField
      // Models, routes and tags are one text: the path says which line is meant.
      const isList = field === 'limits' || field === 'budgets'
      const path = isList ? rest.replace(/^\./, '') : `${item === undefined ? '' : `[${item}]`}${rest}`
      return {
        ...{ field, item: isList && item !== undefined ? Number(item) : null },
        text: path === '' ? message : `${path}: ${message}`,
      }
    })
}

const PROBLEM = /^(\w+)(?:\[(\d+)\])?([^:]*): (.*)$/

/** The texts of the problems of a field, or of one item of it; undefined without any. */
export function problemText(
  problems: readonly FormProblem[],
  field: DraftField,
  item: number | null = null,
): string | undefined {
  const texts = problems.filter((each) => each.field === field && each.item === item).map(({ text }) => text)
  return texts.length === 0 ? undefined : texts.join('; ')
}
