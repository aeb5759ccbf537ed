import { chatCells } from './chat-cells.ts'
import { docCell } from './doc.ts'
import { Ledger } from './ledger.ts'
import { limitCells } from './limit-cells.ts'
import { nativeCells } from './native-cells.ts'

/** The real client libraries through a real gateway to fakes that the vendors' own libraries vouch for (direct.test.ts). */

const ledger = new Ledger()
chatCells(ledger)
nativeCells(ledger)
limitCells()
docCell(ledger)
