import assert from 'node:assert/strict'
import { run, withPort } from './docs-pages.ts'
import { ANSWERS } from '../providers/scenes.ts'

/** Runs the commands as they stand; every chat among them is answered. */
export async function holdCurl(text: string, port: number): Promise<void> {
  const strict = 'set -e\ncurl() { command curl -sS --fail-with-body --max-time 30 "$@"; echo; }\n'
  const { code, stdout, stderr } = await run(['sh'], strict + withPort(text, port))
  assert.equal(code, 0, `${text}\n${stdout}${stderr}`)
  const chats =
    text.match(/^curl .*(?:chat\/completions|\/messages|\/responses|:generateContent|\/converse)(?=[ ?])/gm) ?? []
  const answers = stdout.split(ANSWERS.text[0]!).length - 1 + (stdout.match(/\[mock\]/g)?.length ?? 0)
  assert.equal(answers, chats.length, `${text}\n${stdout}`)
}
