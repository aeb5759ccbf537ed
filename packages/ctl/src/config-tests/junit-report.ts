import { failureLines } from './failure-lines.ts'
import type { FileRun, Report } from './report.ts'

/** The XML that CI systems read; a suite for each file. */
export const junitReport: Report = (runs) =>
  ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', ...runs.flatMap(suiteOf), '</testsuites>', ''].join('\n')

function suiteOf({ file, result }: FileRun): string[] {
  if (!result.ok) {
    const text = escaped(result.problems.join('\n'))
    return [
      `  <testsuite name="${escaped(file)}" tests="1" failures="0" errors="1">`,
      `    <testcase name="${escaped(file)}"><error message="the tests cannot run">${text}</error></testcase>`,
      '  </testsuite>',
    ]
  }
  const { results } = result
  const failed = results.filter(({ failures }) => failures.length > 0).length
  return [
    `  <testsuite name="${escaped(file)}" tests="${results.length}" failures="${failed}" errors="0">`,
    ...results.map(({ name, failures, milliseconds }) => {
      const head = `    <testcase classname="${escaped(file)}" name="${escaped(name)}" time="${(milliseconds / 1000).toFixed(3)}"`
      if (failures.length === 0) return `${head}/>`
      const message = escaped(failures[0]?.headline ?? failures[0]?.unknown ?? '')
      const text = escaped(failures.flatMap(failureLines).join('\n'))
      return `${head}><failure message="${message}">${text}</failure></testcase>`
    }),
    '  </testsuite>',
  ]
}

/** Control characters are not allowed in XML, not even escaped. */
function escaped(text: string): string {
  return text
    .replaceAll(CONTROL, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

// eslint-disable-next-line no-control-regex
const CONTROL =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g
