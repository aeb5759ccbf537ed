import type { ConfigEffect, OpenStreams, PartChanges } from '@portico/gateway/admin-config'

/** The effect of an edit, in sentences. */
export function effectSentences(effect: ConfigEffect): string[] {
  const { routes, backends, policies, listeners, ports, limits, connections, streams } = effect
  const touched = routes.counts.changed + routes.counts.dropped
  const parts = [
    partsText('route', routes),
    touched === 0 ? null : streamsText(streams, touched),
    partsText('listener', listeners),
    partsText('backend', backends),
    partsText('policy', policies),
  ].filter((text) => text !== null)
  if (parts.length === 0) return ['Nothing changes.']
  return [
    ...parts,
    ...(ports.opened.length > 0 ? [`${listText(ports.opened)} ${ports.opened.length === 1 ? 'opens' : 'open'}.`] : []),
    ...(ports.closed.length > 0 ? [closedText(ports.closed, connections)] : ['No port closes.']),
    limits.reset.length === 0
      ? 'No limit is reset.'
      : `${count(limits.reset.length, 'limit')} ${limits.reset.length === 1 ? 'is' : 'are'} reset: the spent budget is forgotten.`,
    'Requests in progress finish on the config they started with.',
  ]
}

/** `2 of 41 open streams are on them.` */
function streamsText({ open, onThem, unheard }: OpenStreams, routes: number): string {
  const them = routes === 1 ? 'it' : 'them'
  const said =
    open === 0
      ? unheard === 0
        ? 'No stream is open'
        : 'No stream is known to be open'
      : `${onThem === 0 ? 'None' : onThem.toLocaleString('en')} of ${count(open, 'open stream')} ${onThem === 1 || onThem === 0 ? 'is' : 'are'} on ${them}`
  return `${said}${unheard === 0 ? '' : `; ${count(unheard, 'worker')} did not report`}.`
}

function closedText(closed: readonly string[], connections: number): string {
  const open =
    connections === 0
      ? 'no connection is open there'
      : `${count(connections, 'connection')} ${connections === 1 ? 'is' : 'are'} open there`
  return `${listText(closed)} ${closed.length === 1 ? 'closes' : 'close'}; ${open}.`
}

function partsText(name: string, { counts, total }: PartChanges): string | null {
  const { added, changed, dropped } = counts
  const said = [
    ...(changed > 0
      ? [`${changed.toLocaleString('en')} of ${count(total, name)} ${changed === 1 ? 'changes' : 'change'}`]
      : []),
    ...(added > 0 ? [`${count(added, name)} ${added === 1 ? 'is' : 'are'} added`] : []),
    ...(dropped > 0 ? [`${count(dropped, name)} ${dropped === 1 ? 'is' : 'are'} removed`] : []),
  ]
  if (said.length === 0) return null
  return `${said.join(', ')}${changed > 0 ? '' : `, ${total.toLocaleString('en')} in total`}.`
}

function count(number: number, name: string): string {
  return `${number.toLocaleString('en')} ${number === 1 ? name : name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`}`
}

function listText(names: readonly string[]): string {
  return `Port ${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`
}
