import { type Key, useInput } from 'ink'
import type { DetailMode, Move } from './view-state.ts'

interface KeyActions {
  readonly switchPane: () => void
  readonly move: (direction: Move) => void
  readonly showMode: (mode: DetailMode) => void
  readonly quit: (reason: 'quit' | 'interrupt') => void
}

export function useKeys(actions: KeyActions): void {
  useInput((input, key) => {
    if (key.ctrl) {
      if (input === 'c') actions.quit('interrupt')
      return
    }
    if (key.tab) actions.switchPane()
    for (const [name, direction] of moves) if (key[name] === true) actions.move(direction)
    // Fast key presses arrive as one text.
    for (const letter of input) press(letter, actions)
  })
}

function press(letter: string, actions: KeyActions): void {
  const mode = modeByLetter[letter]
  if (mode !== undefined) actions.showMode(mode)
  else if (letter === '\t') actions.switchPane()
  else if (letter === 'q') actions.quit('quit')
  else if (letter === CTRL_C) actions.quit('interrupt')
}

const CTRL_C = '\u0003'

const moves: readonly (readonly [keyof Key, Move])[] = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageUp'],
  ['pageDown', 'pageDown'],
  ['home', 'home'],
  ['end', 'end'],
]

const modeByLetter: Readonly<Record<string, DetailMode | undefined>> = { e: 'event', s: 'state', d: 'diff' }
