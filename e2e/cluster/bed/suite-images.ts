import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Image, shortName } from './kubelet/node-settings.ts'
import { gatewayApiOf, type Suite } from './programs.ts'

/** Programs for the images that the manifests of an official suite name. */
export function suiteImages(suite: Suite): Record<string, Image> {
  const folder = join(gatewayApiOf(suite), 'manifests')
  const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  const names = texts.flatMap((text) =>
    [...text.matchAll(/^\s*(?:- )?image:\s*"?([^\s"]+)/gm)].map(([, name = '']) => name),
  )
  return Object.fromEntries(names.map(shortName).map((name) => [name, programFor(suite, name)]))
}

/** The suite's own server answers for all of its servers; the name server of 1.5 is only asked by tests of UDP. */
function programFor(suite: Suite, name: string): Image {
  if (name.startsWith('echo-')) return { command: [join(gatewayApiOf(suite), 'echo-basic')] }
  return { command: ['sleep', 'infinity'], ignoresArguments: true }
}
