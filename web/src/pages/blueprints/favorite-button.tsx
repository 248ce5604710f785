import { ActionIcon, Tooltip } from '@mantine/core'
import { IconHeart, IconHeartFilled } from '@tabler/icons-react'
import { useFavorite } from './use-favorite'
import { favoriteButtonText } from '../../text/blueprints'

type Props = { id: string; title: string; on: boolean }

/** A heart that adds a blueprint to the favourites. */
export function FavoriteButton({ id, title, on }: Props) {
  const favorite = useFavorite()
  const Heart = on ? IconHeartFilled : IconHeart
  return (
    <Tooltip label={on ? favoriteButtonText.removeFromFavourites : favoriteButtonText.addToFavourites}>
      <ActionIcon
        aria-label={favoriteButtonText.favourite(title)}
        aria-pressed={on}
        color={on ? 'red' : 'gray'}
        onClick={() => favorite.mutate({ id, on: !on })}
      >
        <Heart size={18} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}
