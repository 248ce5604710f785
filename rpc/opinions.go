package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// opinionStore is what these procedures ask of the database.
type opinionStore interface {
	Rate(ctx context.Context, p blueprint.Principal, id string, rating float64) (blueprint.Opinions, error)
	Favorite(ctx context.Context, p blueprint.Principal, id string, favorite bool) (blueprint.Opinions, error)
}

func (s *Service) opinions() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Mutation("blueprint.rate", blueprint.ScopeWrite, s.blueprintRate),
		trpc.Mutation("blueprint.favorite", blueprint.ScopeWrite, s.blueprintFavorite),
		trpc.Mutation("blueprint.unfavorite", blueprint.ScopeWrite, s.blueprintUnfavorite),
	}
}

type blueprintRate struct {
	ID     string  `json:"id" check:"required,uuid"`
	Rating float64 `json:"rating" check:"required,min=0,max=5"`
}

func (s *Service) blueprintRate(ctx context.Context, caller *trpc.Caller, in blueprintRate) (blueprint.Opinions, error) {
	return s.Store.Rate(ctx, caller.Principal, in.ID, in.Rating)
}

func (s *Service) blueprintFavorite(ctx context.Context, caller *trpc.Caller, in blueprintID) (blueprint.Opinions, error) {
	return s.Store.Favorite(ctx, caller.Principal, in.ID, true)
}

func (s *Service) blueprintUnfavorite(ctx context.Context, caller *trpc.Caller, in blueprintID) (blueprint.Opinions, error) {
	return s.Store.Favorite(ctx, caller.Principal, in.ID, false)
}
