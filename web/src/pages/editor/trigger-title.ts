import { kinds } from '../triggers/kinds'
import type { TriggerPlace } from './use-panels'
import { triggerPanelText } from '../../text/editor'
import { commonText } from '../../text/common'

/** The title of the panel that shows a trigger or adds one. */
export function titleOf(place: TriggerPlace): string {
  if (place.kind === 'open') return commonText.trigger
  return place.kind === 'new' ? triggerPanelText.newTrigger(kinds[place.type].title) : triggerPanelText.addATrigger
}
